package pipeline

import (
	"slices"
	"sync"
	"time"

	"vmsbridge/motion"
)

// Near is a movement that made no motion because too little of the picture moved: when it began in
// milliseconds since 1970, and the largest share that moved for nearTime.
type Near [2]float64

const (
	nearTime = 250 * time.Millisecond // how long something must move to count: see motion.Config
	nearLong = 10 * time.Second       // what moves on is another movement
	nearMost = 1000                   // of a camera: 16 kB
	nearAway = time.Second            // without a picture, what moved has ended
)

// nears keeps the newest of a camera's. It is note's caller alone that notes; all else is safe for
// concurrent use. Its zero value is ready.
type nears struct {
	began  time.Time // of what moves now; zero for nothing
	peak   float64
	counts bool        // it is part of a motion
	recent []nearShare // the last pictures of it, nearTime and one more

	mu    sync.Mutex // guards all below
	since time.Time  // everything since then is kept
	list  []Near
}

type nearShare struct {
	t     time.Time
	share float64
}

// note takes in what the detector, for which least is enough, makes of the picture of t.
func (n *nears) note(t time.Time, res motion.Result, least float64) {
	if n.since.IsZero() {
		n.mu.Lock()
		n.since = t
		n.mu.Unlock()
	}
	if k := len(n.recent); k > 0 {
		if d := t.Sub(n.recent[k-1].t); d < 0 || d > nearAway {
			n.end(least)
		}
	}
	a := res.Activity
	if a.Learning || a.Global || a.Share == 0 && !res.Moving {
		n.end(least)
		return
	}
	if !n.began.IsZero() && !n.counts && !res.Moving && t.Sub(n.began) >= nearLong {
		n.end(least)
	}
	if n.began.IsZero() {
		n.began = t
	}
	n.counts = n.counts || res.Moving
	n.recent = append(n.recent, nearShare{t, a.Share})
	for len(n.recent) > 1 && t.Sub(n.recent[1].t) >= nearTime {
		n.recent = slices.Delete(n.recent, 0, 1)
	}
	if t.Sub(n.recent[0].t) >= nearTime {
		lowest := a.Share
		for _, r := range n.recent {
			lowest = min(lowest, r.share)
		}
		n.peak = max(n.peak, lowest)
	}
}

// end keeps what moved if it was no motion, was enough for some sensitivity and not for this one.
func (n *nears) end(least float64) {
	if !n.began.IsZero() && !n.counts && n.peak < least && n.peak >= motion.LeastShare(1) {
		n.mu.Lock()
		if len(n.list) == nearMost {
			n.since = time.UnixMilli(int64(n.list[1][0]))
			n.list = slices.Delete(n.list, 0, 1)
		}
		n.list = append(n.list, Near{float64(n.began.UnixMilli()), n.peak})
		n.mu.Unlock()
	}
	n.began, n.peak, n.counts, n.recent = time.Time{}, 0, false, n.recent[:0]
}

// kept are those that are kept, and since when that is all; the zero time before the first picture.
func (n *nears) kept() (list []Near, since time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list), n.since
}
