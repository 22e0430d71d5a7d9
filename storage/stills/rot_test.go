package stills

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

// rotten is a ring with everything in it (two cameras of different rates, both kinds, gaps, a
// settled era), and where each still is.
type rotten struct {
	names  []string
	files  map[string][]byte
	stills map[string]Still // by key
	places map[string]stretch
}

// stretch is bytes of a segment's file.
type stretch struct {
	name     string
	from, to int
}

const rottenShift = 5 * 365 * day

func makeRotten(t *testing.T) *rotten {
	t.Helper()
	dir := memDir(t)
	h := &hand{wall: epoch}
	opts := small
	opts.Clock, opts.Cameras = h.clock, 2
	r, err := Open(dir, opts)
	require.NoError(t, err)
	d := &rotten{files: map[string][]byte{}, stills: map[string]Still{}, places: map[string]stretch{}}
	add := func(s Still, shift time.Duration) {
		d.stills[s.key()] = s
		s.Time = s.Time.Add(-shift)
		require.NoError(t, r.Append(s))
	}
	for i := range 150 {
		h.pass(time.Minute)
		at, shift := time.Duration(i)*time.Minute, time.Duration(0)
		switch i {
		case 70:
			r.SetEra(3)
		case 100:
			require.NoError(t, r.Settle(3, rottenShift))
		}
		if 70 <= i && i < 100 {
			shift = rottenShift
		}
		add(still("fast", Preview, at, 3000+i), shift)
		if i%10 == 0 {
			add(still("slow", Main, at, 9000+i), shift)
			require.NoError(t, r.Gap("slow", epoch.Add(at-shift), epoch.Add(at-shift+time.Second), "offline"))
		}
		if i%25 == 0 {
			require.NoError(t, r.Flush())
		}
	}
	for key, s := range d.stills {
		loc, none := r.index.Find(segment.Key{Camera: s.Camera, Kind: s.Kind}, At, s.Time.UnixNano(), At, 0)
		require.Nil(t, none)
		d.places[key] = stretch{filepath.Base(loc.Seg.Path), int(loc.Place),
			int(loc.Place + segment.RecordSize(len(s.Camera)+len(s.JPEG)))}
	}
	require.NoError(t, r.Close())
	requireClean(t, dir)
	for _, path := range segmentFiles(t, dir) {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		d.names = append(d.names, filepath.Base(path))
		d.files[filepath.Base(path)] = b
	}
	return d
}

// spoil writes the ring to dir, with damage in some places, which it returns.
func (d *rotten) spoil(t *testing.T, dir string, rng *rand.Rand) (hits []stretch) {
	files := map[string][]byte{}
	for name, b := range d.files {
		files[name] = bytes.Clone(b)
	}
	for range 1 + rng.IntN(6) {
		name := d.names[rng.IntN(len(d.names))]
		b := files[name]
		if len(b) < 2*segment.BlockBytes {
			continue // gone, or nearly
		}
		at := rng.IntN(len(b))
		page := at &^ (segment.PageBytes - 1)
		hit := stretch{name, at, at + 1}
		switch rng.IntN(9) {
		case 0:
			b[at] ^= 1 << rng.IntN(8)
		case 1:
			hit.from, hit.to = at%segment.BlockBytes, at%segment.BlockBytes+1
			b[hit.from] ^= 1 << rng.IntN(8)
		case 2:
			hit.from = len(b) - 1 - at%600
			hit.to = hit.from + 1
			b[max(hit.from, 0)] ^= 1 << rng.IntN(8)
		case 3:
			hit.from, hit.to = page, page+segment.PageBytes
			clear(b[page:min(page+segment.PageBytes, len(b))])
		case 4:
			hit.to = len(d.files[name]) + 1<<20
			files[name] = b[:at]
		case 5:
			hit.to = at + rng.IntN(10_000)
			for i := at; i < min(hit.to, len(b)); i++ {
				b[i] = byte(rng.Uint32())
			}
		case 6: // the disk wrote a page elsewhere
			hit.from, hit.to = page, page+segment.PageBytes
			other := d.files[d.names[rng.IntN(len(d.names))]]
			copy(b[page:min(page+segment.PageBytes, len(b))], other[min(page, len(other)):])
		case 7:
			hit.from, hit.to = 0, len(b)
			files[name] = nil
		case 8:
			hit.from, hit.to = len(b)-segment.BlockBytes, len(b)
			files[name] = append(b, make([]byte, rng.IntN(10_000))...)
		}
		hits = append(hits, hit)
	}
	for name, b := range files {
		if b != nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
	}
	return hits
}

// spared says whether a still must have survived: nothing hit its record, nor both ends of its
// segment.
func (d *rotten) spared(key string, hits []stretch) bool {
	p := d.places[key]
	first, last := false, false
	for _, h := range hits {
		if h.name != p.name {
			continue
		}
		if h.from < p.to && h.to > p.from {
			return false
		}
		first = first || h.from < segment.BlockBytes
		last = last || h.to > len(d.files[p.name])-segment.BlockBytes
	}
	return !first || !last
}

// judge opens the ring: what was spared is there, and whatever is there has the bytes that were put
// in.
func (d *rotten) judge(t *testing.T, dir string, opts Options, hits []stretch, what string) {
	h := &hand{wall: epoch.Add(3 * time.Hour)}
	opts.Clock = h.clock
	r, err := Open(dir, opts)
	require.NoError(t, err, what)
	for key, s := range d.stills {
		got, err := r.Find(s.Camera, s.Kind, At, s.Time)
		if err == nil {
			require.True(t, bytes.Equal(got.JPEG, s.JPEG), what)
		} else {
			require.False(t, d.spared(key, hits), "%s: a still of %s at %+v is lost: %v", what, s.Camera, d.places[key],
				err)
		}
	}
	for _, camera := range []string{"fast", "slow"} {
		frames, _, err := r.Range(camera, 0, time.Time{}, time.Unix(0, math.MaxInt64), 0)
		require.NoError(t, err, what)
		for _, f := range frames {
			got, err := r.Find(camera, f.Kind, At, f.Time)
			if err != nil {
				require.Equal(t, ReasonDamaged, reason(t, err), what)
				continue
			}
			want, ok := d.stills[got.key()]
			if !ok { // a segment that lost both ends has lost its shift
				got.Time = got.Time.Add(rottenShift)
				want, ok = d.stills[got.key()]
			}
			require.True(t, ok && bytes.Equal(want.JPEG, got.JPEG), "%s: nobody put the still of %s at %s", what,
				camera, got.Time)
		}
	}
	next := still("new", Main, 0, 5000)
	require.NoError(t, r.Append(next), what)
	requireStill(t, r, next, At, next.Time)
	require.NoError(t, r.Close(), what)
}

// rot damages the ring in up to six places, and then opens it, repairs it, or both.
func (d *rotten) rot(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 99))
	dir := memDir(t)
	hits := d.spoil(t, dir, rng)
	what := fmt.Sprintf("seed %d: %s", seed, strings.ReplaceAll(fmt.Sprint(hits), "stills-", ""))
	_, err := Check(dir)
	require.NoError(t, err, what)
	if seed%2 == 0 {
		d.judge(t, dir, small, hits, what+", opened")
	}
	opts := small
	opts.MaxBytes *= 3 // what is copied is not to push anything out
	rep, err := Repair(dir, opts)
	require.NoError(t, err, what)
	require.Empty(t, rep.Problems, what)
	rep, err = Repair(dir, opts)
	require.NoError(t, err, what)
	require.Empty(t, rep.Repairs, what)
	d.judge(t, dir, opts, hits, what+", repaired")
	require.NoError(t, os.RemoveAll(dir))
}

// TestRandomDamage hits any bytes of any segments. scripts/torture stills does so for longer.
func TestRandomDamage(t *testing.T) {
	t.Parallel()
	d := makeRotten(t)
	for seed := range uint64(30) {
		d.rot(t, seed)
	}
}
