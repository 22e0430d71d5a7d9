package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

func TestGopsFindTheFirstPictureOfAMoment(t *testing.T) {
	var g gops
	g.keep = 2 * time.Second
	g.Add(camera.AccessUnit{Time: at(-100)}) // before the first random access point: not held
	for ms := 0; ms < 5000; ms += 100 {
		g.Add(camera.AccessUnit{Time: at(ms), RandomAccess: ms%1000 == 0, Damaged: ms == 4300, Data: []byte{1}})
	}
	for _, c := range []struct {
		name         string
		moment, want int
	}{
		{"exactly a picture", 4200, 4200},
		{"between two", 4110, 4200},
		{"a damaged one is passed over", 4250, 4400},
		{"in the group before", 3950, 4000},
		{"after the newest", 5500, 4900},
	} {
		t.Run(c.name, func(t *testing.T) {
			gr, got := g.Find(at(c.moment), mainReach)
			require.NotNil(t, gr)
			require.Equal(t, at(c.want), got)
			require.Contains(t, times(gr), got)
		})
	}
	gr, _ := g.Find(at(-500), mainReach)
	require.Nil(t, gr, "what is out of reach is gone, and a later picture is no answer")
	require.LessOrEqual(t, len(g.groups), 4)
}

func TestGopsBoundTheirBytes(t *testing.T) {
	var g gops
	g.keep = time.Hour
	for i := range 500 {
		g.Add(camera.AccessUnit{Time: at(i * 40), RandomAccess: i%50 == 0, Data: make([]byte, 1<<20)})
		total := 0
		for _, gr := range g.groups {
			total += gr.bytes
		}
		require.LessOrEqual(t, total, maxHeldBytes+maxHeldBytes/2)
	}
}

func times(g *group) (out []time.Time) {
	for _, u := range g.units {
		out = append(out, u.Time)
	}
	return out
}
