package stills

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model is the ring as a plain list, newest appended last. Which stills a ring keeps depends on the sizes of segments; the
// model only knows that what is dropped is dropped in the order of appending.
type model struct {
	stills []Still
}

// candidates are the stills that op and t mean, if the first `from` ones were dropped.
func (m *model) find(from int, camera string, k Kind, op Op, t time.Time) (best Still, ok bool) {
	for _, s := range m.stills[from:] {
		if s.Camera != camera || s.Kind != k {
			continue
		}
		c := s.Time.Compare(t)
		fits := op == Before && c < 0 || op == AtOrBefore && c <= 0 || op == At && c == 0 || op == AtOrAfter && c >= 0 || op == After && c > 0
		if !fits {
			continue
		}
		// A later one of the same time replaces.
		if !ok || s.Time.Equal(best.Time) || (op <= At) == s.Time.After(best.Time) {
			best, ok = s, true
		}
	}
	return best, ok
}

func TestAgainstModel(t *testing.T) {
	dir := memDir(t)
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		require.NoError(t, err)
		opts := small
		opts.MaxBytes = int64(rapid.IntRange(2, 6).Draw(t, "segments")) * opts.SegmentBytes
		r, err := Open(sub, opts)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		var m model
		dropped := 0          // how many of the model's first stills the ring no longer has
		var segments []uint64 // in which segment each was put
		cameras := []string{"a", "ab", "b"}
		kinds := []Kind{Preview, Main}
		now := epoch
		seed := uint64(0)
		sync := func() {
			r.appendMu.Lock()
			defer r.appendMu.Unlock()
			first := r.next
			if len(r.segments) > 0 {
				first = r.segments[0].number
			}
			for dropped < len(segments) && segments[dropped] < first {
				dropped++
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				// Mostly forward, sometimes the same time, or a step of the clock.
				now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 1, 0, -3, 50, -50}).Draw(t, "step")) * time.Second)
				seed++
				s := Still{rapid.SampledFrom(cameras).Draw(t, "camera"), rapid.SampledFrom(kinds).Draw(t, "kind"), now,
					picture(seed, rapid.SampledFrom([]int{1, 7, 8, 900, 9000, 30000, 60000}).Draw(t, "size"))}
				require.NoError(t, r.Append(s))
				m.stills, segments = append(m.stills, s), append(segments, r.block.number)
				require.LessOrEqual(t, r.Stats().Bytes, opts.MaxBytes)
			},
			"find": func(t *rapid.T) {
				sync()
				at := now.Add(time.Duration(rapid.IntRange(-60, 60).Draw(t, "at")) * time.Second)
				camera, k := rapid.SampledFrom(cameras).Draw(t, "camera"), rapid.SampledFrom(kinds).Draw(t, "kind")
				op := Op(rapid.IntRange(1, 5).Draw(t, "op"))
				want, ok := m.find(dropped, camera, k, op, at)
				got, err := r.Find(camera, k, op, at)
				if !ok {
					none, isNone := errors.AsType[*NoneError](err)
					require.True(t, isNone, "%v", err)
					_, was := m.find(0, camera, k, At, at)
					require.False(t, was && none.Reason == ReasonNever, "%v, but it was pruned", err)
					return
				}
				require.NoError(t, err)
				require.True(t, want.Time.Equal(got.Time), "%s, want %s", got.Time, want.Time)
				require.True(t, bytes.Equal(want.JPEG, got.JPEG))
			},
			"reopen": func(t *rapid.T) {
				require.NoError(t, r.Close())
				r, err = Open(sub, opts)
				require.NoError(t, err)
				require.Zero(t, r.Stats().DamagedRecords+r.Stats().DamagedIndexes+r.Stats().DamagedSegments+r.Stats().TornRecords)
			},
			"flush": func(t *rapid.T) { require.NoError(t, r.Flush()) },
			"release": func(t *rapid.T) {
				_, err := r.Release(1)
				require.NoError(t, err)
			},
			"check": func(t *rapid.T) {
				rep, err := Check(sub)
				require.NoError(t, err)
				require.Empty(t, rep.Problems)
			},
		})
	})
}
