package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// What moves too little for a camera's sensitivity is kept once, with how much moved for long
// enough; what was a motion, was short, or was all of the light is not.
func TestWhatMovesTooLittleIsKept(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	least := motion.LeastShare(0.5)
	moves := func(share float64) motion.Result { return motion.Result{Activity: motion.Activity{Share: share}} }
	still := motion.Result{}
	var n nears
	now := begin
	see := func(d time.Duration, res motion.Result) {
		for end := now.Add(d); now.Before(end); now = now.Add(100 * time.Millisecond) {
			n.note(now, res, least)
		}
	}
	for _, c := range []struct {
		name string
		see  func()
		want float64 // the share that is kept; 0 for none
	}{
		{"a leaf", func() { see(time.Second, moves(least/4)) }, least / 4},
		{"its larger part is short", func() {
			see(time.Second, moves(least/4))
			see(200*time.Millisecond, moves(least/2))
			see(time.Second, moves(least/4))
		}, least / 4},
		{"its larger part lasts", func() {
			see(time.Second, moves(least/4))
			see(400*time.Millisecond, moves(least/2))
		}, least / 2},
		{"short", func() { see(200*time.Millisecond, moves(least/2)) }, 0},
		{"large enough, and no motion for another reason", func() { see(time.Second, moves(2*least)) }, 0},
		{"too little for any sensitivity", func() { see(time.Second, moves(motion.LeastShare(1)/2)) }, 0},
		{"the beginning of a motion", func() {
			see(time.Second, moves(least/2))
			res := moves(2 * least)
			res.Moving = true
			see(time.Second, res)
			see(time.Second, moves(least/2))
		}, 0},
		{"the light", func() {
			see(time.Second, motion.Result{Activity: motion.Activity{Share: least / 2, Global: true}})
		}, 0},
		{"learning", func() {
			see(time.Second, motion.Result{Activity: motion.Activity{Share: least / 2, Learning: true}})
		}, 0},
		{"the stream is lost", func() { see(time.Second, moves(least/3)); now = now.Add(time.Minute) }, least / 3},
	} {
		before, _ := n.kept()
		at := now
		c.see()
		see(time.Second, still)
		list, since := n.kept()
		require.Equal(t, begin, since, c.name)
		if c.want == 0 {
			require.Len(t, list, len(before), c.name)
			continue
		}
		require.Len(t, list, len(before)+1, c.name)
		require.Equal(t, Near{float64(at.UnixMilli()), c.want}, list[len(before)], c.name)
	}

	// What goes on for long is several; of many, the newest stay, and it is told since when.
	before, _ := n.kept()
	see(25*time.Second, moves(least/4))
	see(time.Second, still)
	list, _ := n.kept()
	require.Len(t, list, len(before)+3)
	for range nearMost {
		see(500*time.Millisecond, moves(least/4))
		see(200*time.Millisecond, still)
	}
	list, since := n.kept()
	require.Len(t, list, nearMost)
	require.Equal(t, list[0][0], float64(since.UnixMilli()))
}
