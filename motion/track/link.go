package track

import (
	"time"

	"vmsbridge/motion/area"
)

const (
	// times as large, at most, as the track was, that a thing is among others that fly about
	alike      = 4
	aheadAfter = 3                      // pictures, after which it is known where a track goes
	aheadFade  = 0.25                   // time, in seconds, over which that is smoothed
	shred      = 4                      // times smaller than the largest part of a thing is what flutters around it
	leapWithin = 150 * time.Millisecond // after its last picture, in which something fast is looked for anywhere
	shredReach = 2                      // cells, by which that may be away from it
)

// link finds the tracks that the areas of a picture belong to, the largest areas first, and begins
// others.
func (t *Tracker) link(areas []area.Area, at, dt time.Duration, wall time.Time) {
	known := len(t.Tracks)
	for i := range known {
		t.Tracks[i].main = -1
	}
	t.order = t.order[:0]
	for i := range areas {
		if !areas[i].Stirs && !areas[i].Creeps && !areas[i].Shines && !areas[i].Goes {
			continue
		}
		j := len(t.order)
		t.order = append(t.order, i)
		for ; j > 0 && areas[t.order[j-1]].Moved < areas[i].Moved; j-- {
			t.order[j] = t.order[j-1]
		}
		t.order[j] = i
	}
	for _, i := range t.order {
		o := &areas[i]
		o.Track = t.nearest(areas, o, known, at, dt)
		if o.Track >= 0 {
			if k := &t.Tracks[o.Track]; k.main < 0 {
				k.main = i
			}
			continue
		}
		if len(t.Tracks) < most && 8*o.Fore >= o.Moved {
			t.Tracks = append(t.Tracks, Track{first: wall, strongAt: at, bornAt: at, box: o.Place(), size: o.Moved,
				main: i})
			o.Track = len(t.Tracks) - 1
		}
	}
}

// nearest is the track that an area belongs to: one that was near, or that has a larger part of the
// same thing in this picture. It is -1 without.
func (t *Tracker) nearest(areas []area.Area, o *area.Area, known int, at, dt time.Duration) int {
	box, wake := o.Place(), o.Wake(t.small)
	best, bestGap := -1, 1<<30
	for i := range t.Tracks {
		k := &t.Tracks[i]
		if wake && k.cells < float64(t.small) {
			continue
		}
		if i >= known && !t.Flurries() {
			continue
		}
		if !k.Confirmed && float64(o.Size()) > 4*k.cells && at-k.bornAt > time.Second && i < known {
			continue // something else that flutters has been there all the time
		}
		from := k.box
		if k.main >= 0 && t.Flurries() {
			from = areas[k.main].Place()
		}
		gap, reach := from.Apart(box)
		switch {
		case !t.Flurries():
		case k.main >= 0 && shred*o.Size() < areas[k.main].Size():
			reach = shredReach
		case k.main >= 0:
			reach = 3
		case k.linked > aheadAfter && (float64(o.Size()) > alike*k.typical || alike*float64(o.Size()) < k.typical) &&
			at-k.seenAt <= 2*dt:
			continue
		}
		if (k.main < 0 || !t.Flurries()) && t.leaps(k, o, at, dt) {
			reach = 1 << 29
		}
		if gap <= reach && (gap < bestGap || gap == bestGap && k.outranks(&t.Tracks[best])) {
			best, bestGap = i, gap
		}
	}
	return best
}

// outranks tells whether what is at the place of both tracks is rather k's: shadows come before a
// thing, and crumbs of it fall off.
func (k *Track) outranks(other *Track) bool {
	if k.Confirmed != other.Confirmed {
		return k.Confirmed
	}
	return k.strong > other.strong
}

// leaps tells whether the area may be a young track's next picture, wherever it is: a car close to
// the camera is only seen in a few pictures, and each time somewhere else. That it goes straight on
// is asked when it is confirmed.
func (t *Tracker) leaps(k *Track, o *area.Area, at, dt time.Duration) bool {
	return k.linked <= 3 && o.Fore >= t.small && k.size >= t.small && k.seenAt < at &&
		at-k.seenAt <= max(leapWithin, dt*3/2) && 3*o.Moved > k.size && 3*k.size > o.Moved
}
