package stills

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/stills/segment"
)

// model is the ring as a plain list, newest appended last. Which stills a ring keeps depends on the
// sizes of segments; the model only knows in which segment each still was put, and which segments
// there are.
type model struct {
	stills []kept
	live   map[uint64]bool // nil: all
}

type kept struct {
	Still
	segment uint64
}

// find is the still that op and t mean.
func (m *model) find(camera string, k Kind, op Op, t time.Time) (best Still, ok bool) {
	for _, s := range m.stills {
		if s.Camera != camera || s.Kind != k || m.live != nil && !m.live[s.segment] {
			continue
		}
		c := s.Time.Compare(t)
		fits := op == Before && c < 0 || op == AtOrBefore && c <= 0 || op == At && c == 0 || op == AtOrAfter &&
			c >= 0 || op == After && c > 0
		if !fits {
			continue
		}
		// A later one of the same time replaces.
		if !ok || s.Time.Equal(best.Time) || (op <= At) == s.Time.After(best.Time) {
			best, ok = s.Still, true
		}
	}
	return best, ok
}

// list is the stills of from to to, in order of time.
func (m *model) list(camera string, k Kind, from, to time.Time) (list []Still) {
	at, op := from, AtOrAfter
	for {
		s, ok := m.find(camera, k, op, at)
		if !ok || s.Time.After(to) {
			return list
		}
		list = append(list, s)
		at, op = s.Time, After
	}
}

func TestAgainstModel(t *testing.T) {
	dir := memDir(t)
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		require.NoError(t, err)
		opts := small
		opts.MaxBytes = int64(rapid.SampledFrom([]int{2, 3, 6, 8, 10}).Draw(t, "segments")) * opts.SegmentBytes
		h := &hand{wall: epoch}
		opts.Clock = h.clock
		r, err := Open(sub, opts)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		var m model
		cameras := []string{"a", "ab", "b"}
		kinds := []Kind{Preview, Main}
		now := epoch
		seed := uint64(0)
		sync := func() {
			r.appendMu.Lock()
			defer r.appendMu.Unlock()
			m.live = map[uint64]bool{}
			for _, s := range r.segments {
				m.live[s.Number] = true
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				h.pass(time.Duration(rapid.SampledFrom([]int{1, 60, 3600}).Draw(t, "later")) * time.Second)
				// Mostly forward, sometimes the same time, or a step of the clock.
				now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 1, 1, 1, 0, -3, 50, -50}).Draw(t,
					"step")) * time.Second)
				seed++
				s := Still{rapid.SampledFrom(cameras).Draw(t, "camera"), rapid.SampledFrom(kinds).Draw(t, "kind"), now,
					picture(seed, rapid.SampledFrom([]int{1, 7, 8, 900, 9000, 30000, 60000}).Draw(t, "size"))}
				require.NoError(t, r.Append(s))
				loc, none := r.index.Find(segment.Key{Camera: s.Camera, Kind: s.Kind}, At, s.Time.UnixNano(), At, 0)
				require.Nil(t, none)
				m.stills = append(m.stills, kept{s, loc.Seg.Number})
				require.LessOrEqual(t, r.Stats().Bytes, opts.MaxBytes)
			},
			"find": func(t *rapid.T) {
				sync()
				at := now.Add(time.Duration(rapid.IntRange(-60, 60).Draw(t, "at")) * time.Second)
				camera, k := rapid.SampledFrom(cameras).Draw(t, "camera"), rapid.SampledFrom(kinds).Draw(t, "kind")
				op := Op(rapid.IntRange(1, 5).Draw(t, "op"))
				want, ok := m.find(camera, k, op, at)
				got, err := r.Find(camera, k, op, at)
				if !ok {
					none, isNone := errors.AsType[*NoneError](err)
					require.True(t, isNone, "%v", err)
					m.live = nil
					_, was := m.find(camera, k, At, at)
					require.False(t, was && none.Reason == ReasonNever, "%v, but it was pruned", err)
					return
				}
				require.NoError(t, err)
				require.True(t, want.Time.Equal(got.Time), "%s, want %s", got.Time, want.Time)
				require.True(t, bytes.Equal(want.JPEG, got.JPEG))
			},
			"range": func(t *rapid.T) {
				sync()
				from := now.Add(time.Duration(rapid.IntRange(-90, 10).Draw(t, "from")) * time.Second)
				to := from.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "for")) * time.Second)
				camera, k := rapid.SampledFrom(cameras).Draw(t, "camera"), rapid.SampledFrom(kinds).Draw(t, "kind")
				var got []Frame
				at := from
				for more := true; more; {
					var page []Frame
					page, more, err = r.Range(camera, k, at, to, rapid.IntRange(1, 9).Draw(t, "limit"))
					require.NoError(t, err)
					if got = append(got, page...); more {
						at = page[len(page)-1].Time.Add(1)
					}
				}
				want := m.list(camera, k, from, to)
				require.Len(t, got, len(want))
				for i := range want {
					require.Equal(t, Frame{want[i].Time.UTC(), k, len(want[i].JPEG)}, got[i])
				}
			},
			"reopen": func(t *rapid.T) {
				require.NoError(t, r.Close())
				r, err = Open(sub, opts)
				require.NoError(t, err)
				require.Zero(t, r.Stats().DamagedRecords+r.Stats().DamagedIndexes+r.Stats().DamagedSegments+
					r.Stats().TornRecords)
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
