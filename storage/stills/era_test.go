package stills

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// shift is by how much the clock of the tests below was wrong.
const shift = 20000*day + 1234567*time.Millisecond

// TestEra stores stills and a gap under a clock of 1970, with restarts: after Settle all stand at
// their right times, also those that come later into the same segment, and also after another
// restart and a repair.
func TestEra(t *testing.T) {
	dir := memDir(t)
	r, err := Open(dir, small)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	reopen := func() {
		require.NoError(t, r.Close())
		requireClean(t, dir)
		r, err = Open(dir, small)
		require.NoError(t, err)
	}
	var list []Still
	put := func(at time.Duration, wrong time.Duration) {
		s := still("cam", Preview, at, 3000)
		list = append(list, s)
		s.Time = s.Time.Add(-wrong)
		require.NoError(t, r.Append(s))
	}
	for i := range 10 { // the times were true once
		put(time.Duration(i)*time.Second, 0)
	}
	r.SetEra(7)
	for i := 10; i < 80; i++ {
		put(time.Duration(i)*time.Second, shift)
		if i == 50 {
			reopen()
			r.SetEra(7) // it is still not known
		}
	}
	gapFrom, gapTo := epoch.Add(81*time.Second), epoch.Add(82*time.Second)
	require.NoError(t, r.Gap("cam", gapFrom.Add(-shift), gapTo.Add(-shift), "away"))
	require.NoError(t, r.Gap("cam", gapTo.Add(time.Hour-shift), time.Time{}, "for good"))
	from, to, ok := r.EraExtent(7)
	require.True(t, ok)
	require.Equal(t, list[10].Time.Add(-shift), from)
	require.Equal(t, list[79].Time.Add(-shift), to)
	// The clock of 1970: nothing of the era is before T yet.
	requireStill(t, r, list[9], Before, epoch.Add(20*time.Second))

	require.NoError(t, r.Settle(7, shift))
	require.NoError(t, r.Settle(7, shift), "again, as after a crash")
	for i := 90; i < 120; i++ { // some into the segment whose times were untrue
		put(time.Duration(i)*time.Second, 0)
	}
	require.NoError(t, r.Gap("cam", epoch.Add(130*time.Second), epoch.Add(140*time.Second), "later"))
	look := func() {
		t.Helper()
		for i, s := range list {
			requireStill(t, r, s, At, s.Time)
			if i > 0 {
				requireStill(t, r, list[i-1], Before, s.Time)
			}
			if i < len(list)-1 {
				requireStill(t, r, s, Before, list[i+1].Time)
			}
		}
		frames, _, err := r.Range("cam", Preview, time.Time{}, epoch.Add(day), 0)
		require.NoError(t, err)
		require.Len(t, frames, len(list))
		gaps := r.Gaps("cam", time.Time{}, time.Time{})
		require.Equal(t, []Gap{{"cam", gapFrom, gapTo, "away"},
			{"cam", epoch.Add(130 * time.Second), epoch.Add(140 * time.Second), "later"},
			{"cam", gapTo.Add(time.Hour), time.Time{}, "for good"}}, gaps)
		_, _, ok := r.EraExtent(7)
		require.False(t, ok)
	}
	look()
	reopen()
	look()
	require.NoError(t, r.Close())
	// An index that is lost is made anew from records that have the untrue times.
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	for _, name := range files {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		foot, err := segment.DecodeBlock(b[len(b)-segment.BlockBytes:], segment.FootMagic)
		if err == nil && foot.Sealed() {
			b[foot.IndexAt] ^= 0xff
			require.NoError(t, os.WriteFile(name, b, 0o600))
		}
	}
	rep, err := Repair(dir, small)
	require.NoError(t, err)
	require.NotEmpty(t, rep.Repairs)
	require.True(t, rep.Clean(), "%v", rep.Problems)
	r, err = Open(dir, small)
	require.NoError(t, err)
	look()
}

// TestErasAgainstAModel steps through starts with clocks that are true, untrue, and made true
// later, in any order, and compares with a map.
func TestErasAgainstAModel(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		dir := memDir(t)
		opts := small
		opts.MaxBytes = 64 << 20
		r, err := Open(dir, opts)
		require.NoError(t, err)
		model := map[uint32]map[int64]Still{} // by era, by the time as it is stored
		for era := uint32(1); era <= 8; era++ {
			untrue := era
			if rng.IntN(3) == 0 {
				untrue = 0
			}
			r.SetEra(untrue)
			for i := range rng.IntN(80) {
				s := still("cam", Preview, time.Duration(era)*time.Hour+time.Duration(rng.IntN(3000))*time.Second+
					time.Duration(i), 100+rng.IntN(3000))
				if model[untrue] == nil {
					model[untrue] = map[int64]Still{}
				}
				model[untrue][s.Time.UnixNano()] = s
				require.NoError(t, r.Append(s))
			}
			if rng.IntN(2) == 0 {
				require.NoError(t, r.Close())
				r, err = Open(dir, opts)
				require.NoError(t, err)
				r.SetEra(untrue)
			}
			for _, e := range slices.Sorted(maps.Keys(model)) {
				if e == 0 || rng.IntN(3) > 0 {
					continue
				}
				by := time.Duration(rng.Int64N(int64(100*day))) - 50*day
				require.NoError(t, r.Settle(e, by))
				for _, s := range model[e] {
					s.Time = s.Time.Add(by)
					if model[0] == nil {
						model[0] = map[int64]Still{}
					}
					model[0][s.Time.UnixNano()] = s
				}
				delete(model, e)
			}
		}
		var all []Still
		for _, m := range model {
			for _, s := range m {
				all = append(all, s)
			}
		}
		slices.SortFunc(all, func(a, b Still) int { return a.Time.Compare(b.Time) })
		for range 2 {
			for i, s := range all {
				if i > 0 && all[i-1].Time.Equal(s.Time) || i+1 < len(all) && all[i+1].Time.Equal(s.Time) {
					continue // of two eras
				}
				requireStill(t, r, s, At, s.Time)
				requireStill(t, r, s, AtOrBefore, s.Time)
				requireStill(t, r, s, Before, s.Time.Add(1))
				requireStill(t, r, s, After, s.Time.Add(-1))
			}
			require.NoError(t, r.Close())
			requireClean(t, dir)
			r, err = Open(dir, opts)
			require.NoError(t, err)
		}
		require.NoError(t, r.Close())
	}
}

// TestSettleCutOff cuts Settle off at each operation of the file system: after the next start it is
// called again, and every still stands at its right time, none moved twice.
func TestSettleCutOff(t *testing.T) {
	for k := 1; ; k++ {
		dir := memDir(t)
		r, err := Open(dir, small)
		require.NoError(t, err)
		r.SetEra(1)
		var list []Still
		for i := range 60 {
			s := still("cam", Preview, time.Duration(i)*time.Second, 3000)
			require.NoError(t, r.Append(Still{s.Camera, s.Kind, s.Time.Add(-shift), s.JPEG}))
			list = append(list, s)
		}
		require.NoError(t, r.Close())
		f := &faulty{k: k, all: true, err: errors.New("cut off")}
		opts := small
		opts.FS = vfstest.Inject(vfs.OS, f.before)
		done := false
		if r, err := Open(dir, opts); err == nil {
			done = r.Settle(1, shift) == nil
			_ = r.Close()
		}
		r = open(t, dir, small)
		require.NoError(t, r.Settle(1, shift))
		for i, s := range list {
			requireStill(t, r, s, At, s.Time)
			if i > 0 {
				requireStill(t, r, list[i-1], Before, s.Time)
			}
		}
		if done && f.hit == (vfstest.Op{}) {
			require.Greater(t, k, 10)
			return
		}
	}
}

// What was stamped with an untrue time, and comes when the ring has been told by how much the era
// was wrong, is stored with its right time, before the era is settled and after; what comes with a
// true time meanwhile keeps it.
func TestStillsOfAnEraThatIsOver(t *testing.T) {
	const shift = 300 * 24 * time.Hour
	r := open(t, t.TempDir(), Options{MaxBytes: 64 << 20})
	var list []Still
	put := func(at time.Duration, era uint32) {
		s := still("cam", Preview, at, 3000)
		list = append(list, s)
		if era != 0 {
			s.Time = s.Time.Add(-shift)
		}
		require.NoError(t, r.AppendOf(era, s))
	}
	put(0, 7)
	put(time.Second, 7)
	r.Announce(7, shift)
	put(3*time.Second, 0)
	put(2*time.Second, 7) // it was on its way
	require.NoError(t, r.GapOf(7, "cam", epoch.Add(10*time.Second-shift), epoch.Add(20*time.Second-shift), "away"))
	require.NoError(t, r.Settle(7, shift))
	put(5*time.Second, 0)
	put(4*time.Second, 7) // it was on its way for long
	for _, s := range list {
		requireStill(t, r, s, At, s.Time)
	}
	require.Equal(t, []Gap{{Camera: "cam", From: epoch.Add(10 * time.Second), To: epoch.Add(20 * time.Second),
		Reason: "away"}}, r.Gaps("cam", time.Time{}, time.Time{}))
}
