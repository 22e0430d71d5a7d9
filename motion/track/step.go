package track

import (
	"math"
	"time"

	"vmsbridge/motion/area"
)

// Step links the areas of one picture, dt after the one before, to the tracks.
func (t *Tracker) Step(areas []area.Area, at, dt time.Duration, wall time.Time) {
	kept := 0
	for i := range t.Tracks {
		k, gone := &t.Tracks[i], GoneAfter
		if k.creep > 0 {
			gone = time.Second
		}
		if at-k.seenAt <= max(gone, 2*dt) {
			k.Live = false
			if kept < i { // a track is large
				t.Tracks[kept] = *k
			}
			kept++
		}
	}
	t.Tracks = t.Tracks[:kept]
	t.attend(areas, at, dt, wall)
	t.link(areas, at, dt, wall)
	if !t.Learning {
		t.fall.take(areas, t.small, dt)
	}
	for i := range t.Tracks {
		l := t.sum(areas, i)
		t.Tracks[i].advance(&l, at, dt, wall, t)
	}
}

// advance takes what one picture shows of the track.
func (k *Track) advance(l *look, at, dt time.Duration, wall time.Time, t *Tracker) {
	if !l.any {
		k.missed(at)
		return
	}
	flake := t.flake(l.largest)
	if k.flake && !flake && !k.Confirmed { // something else takes its place
		*k = Track{first: wall, strongAt: at, bornAt: at, main: k.main}
	}
	k.flake = flake
	k.box, k.seenAt, k.size = l.Box, at, l.Moved
	k.linked++
	contrast := l.contrast()
	k.contrast *= math.Exp(-dt.Seconds() / contrastFade)
	if l.Strong {
		k.contrast = max(k.contrast, contrast)
	}
	k.worn = float64(l.Worn) / float64(max(1, l.Moved)) * area.WornFull.Seconds() / 255
	if (l.Weak || k.trail.n == 0) && !flake {
		worn := float32(0) // later, a tree is known for what it is, and a hand at work has worn its own place
		if t.Early {
			worn = float32(k.worn)
		}
		k.trail.add(sight{at: at, wall: wall, contrast: float32(contrast), top: int16(l.Box.Top),
			bottom: int16(l.Box.Bottom), fore: int32(l.Fore), worn: worn}, dt)
	}
	k.leap(t.formOf(l, contrast), t, at, dt)
	if flake {
		k.missed(at)
	} else {
		k.gather(l, contrast, at, dt)
	}
	k.looms(l, t.small, dt)
	k.consider(l, dt)
	k.travel(l.Moved, l.largest, l.MovedX, l.MovedY, at, dt)
	k.follow(l.Creeps && !l.Strong && l.edged() && creepCells*l.Fore >= t.small, l.Fore, l.SumX, l.SumY, t.small, dt)
	if t.Learning { // it tells where the thing came from, and counts for nothing: a tree in a gust moves too
		k.strong, k.active, k.pictures, k.faint = 0, 0, 0, 0
	}
	if !k.Confirmed && !flake && !t.Learning {
		k.confirm(at, dt, t)
	}
	if !k.Confirmed && !flake && !t.Learning && l.Goes {
		k.begins(k.trail.begin(at, t.back(at, startBack), k.contrast), at, t)
		if l.Since.Before(k.Start) {
			k.Start, k.Dated = l.Since, true
		}
	}
	k.Live = k.Confirmed && !flake && (l.Stirs && l.Active && contrast >= shadowShare*k.contrast ||
		k.creeping && l.Creeps || l.Goes && (l.Stirs || l.Fore < t.small))
	switch {
	case k.Live:
		k.liveAt = at
	case k.Confirmed && at-k.liveAt > doubtAfter:
		// It stands and stirs; to count again it must walk again.
		k.Confirmed, k.creeping = false, false
		k.strong, k.active, k.faint, k.pictures, k.creep = 0, 0, 0, 0, 0
	}
}

// missed forgets strong motion that is too long ago to belong to what comes.
func (k *Track) missed(at time.Duration) {
	if at-k.strongAt > GoneAfter {
		k.strong, k.active, k.faint, k.pictures = 0, 0, 0, 0
	}
}
