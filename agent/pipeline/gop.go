package pipeline

import (
	"time"

	"vmsbridge/agent/camera"
)

// maxHeldBytes bounds what is held of one camera's full-resolution stream.
const maxHeldBytes = 32 << 20

// group is a random access point and what depends on it: feeding its units in order gives its
// pictures.
type group struct {
	id    uint64
	units []camera.AccessUnit
	bytes int
	full  bool // outgrew its bytes: later units are not held
}

// gops holds the newest access units of the full-resolution stream, undecoded, so that a still of a
// moment that has just passed can be made when motion is confirmed, and nothing is decoded while
// nothing moves. It keeps the current group of pictures and as much before it as `keep` reaches
// back. Not safe for concurrent use.
type gops struct {
	keep   time.Duration
	groups []*group
	next   uint64
}

// Add appends a unit. Units before the first random access point are not held.
func (g *gops) Add(u camera.AccessUnit) {
	if u.RandomAccess {
		g.next++
		g.groups = append(g.groups, &group{id: g.next})
		g.prune(u.Time)
	}
	if len(g.groups) == 0 {
		return
	}
	cur := g.groups[len(g.groups)-1]
	if cur.full || cur.bytes+len(u.Data) > maxHeldBytes/2 {
		cur.full = true
		return
	}
	cur.units = append(cur.units, u)
	cur.bytes += len(u.Data)
}

// Reset forgets everything: the stream was lost.
func (g *gops) Reset() { g.groups = nil }

// Find returns the group that holds the picture to take for a moment t, and that picture's time:
// the first picture at or after t, if it is here and within reach; else the newest before t.
// Damaged pictures are passed over.
func (g *gops) Find(t time.Time, reach time.Duration) (*group, time.Time) {
	var before, after *group
	var tBefore, tAfter time.Time
	for _, gr := range g.groups {
		for _, u := range gr.units {
			switch {
			case u.Damaged:
			case u.Time.Before(t):
				if before == nil || u.Time.After(tBefore) {
					before, tBefore = gr, u.Time
				}
			case u.Time.Sub(t) <= reach && (after == nil || u.Time.Before(tAfter)):
				after, tAfter = gr, u.Time
			}
		}
	}
	if after != nil {
		return after, tAfter
	}
	return before, tBefore
}

// prune drops whole groups, oldest first, that are out of reach of now or beyond the bytes; the
// newest two stay.
func (g *gops) prune(now time.Time) {
	total := 0
	for _, gr := range g.groups {
		total += gr.bytes
	}
	for len(g.groups) > 2 {
		// A group ends where the next one begins.
		ended := g.groups[1].units
		if total <= maxHeldBytes && (len(ended) == 0 || now.Sub(ended[0].Time) <= g.keep) {
			return
		}
		total -= g.groups[0].bytes
		g.groups[0] = nil
		g.groups = g.groups[1:]
	}
}
