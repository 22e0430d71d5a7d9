package motion

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCollectChooses compares areas that are all measured with those that are chosen by a count first.
func TestCollectChooses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	few, many, dropped := 0, 0, 0
	for range 400 {
		d, now := littered(t, r)
		l := &d.labels
		l.label(d.grid, d.solid, d.model.parked)
		v := d.views(now, now, now, sameExposure, sameExposure)
		least := 1 + r.IntN(60)
		number := l.number[:len(l.parent)]
		l.objects = l.objects[:0]
		l.choose(number, d.counts[:len(l.parent)], &v, least)
		for i := range number {
			number[i] = number[l.root(uint16(i))]
		}
		l.measure(&v)
		want, numbered := slices.Clone(l.objects), slices.Clone(number)

		got := l.collect(d, &v, least)
		require.Equal(t, len(want), len(got))
		require.True(t, slices.Equal(want, got), "%+v\n%+v", want, got)
		require.Equal(t, numbered, number)
		l.objects = l.objects[:0]
		switch fits := l.place(number); {
		case !fits:
			many++
		case len(l.objects) > len(want):
			dropped++
		default:
			few++
		}
	}
	require.Greater(t, few, 10)
	require.Greater(t, dropped, 10)
	require.Greater(t, many, 10)
}
