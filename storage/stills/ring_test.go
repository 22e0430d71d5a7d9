package stills

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

var epoch = time.Date(2026, 11, 21, 7, 0, 0, 123456789, time.UTC)

// picture is bytes that differ by seed.
func picture(seed uint64, n int) []byte {
	b := make([]byte, n+8)
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	return b[:n:n]
}

func still(camera string, k Kind, at time.Duration, n int) Still {
	return Still{camera, k, epoch.Add(at), picture(uint64(at)+uint64(k), n)}
}

var small = Options{MaxBytes: 1 << 20, SegmentBytes: 64 << 10, FlushEvery: time.Hour, MinFree: -1}

// memDir is a directory in memory where there is one, for tests of many flushes.
func memDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stills-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// open opens a ring, and at the end of the test closes and checks it.
func open(t testing.TB, dir string, opts Options) *Ring {
	t.Helper()
	r, err := Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func requireClean(t testing.TB, dir string) Report {
	t.Helper()
	rep, err := Check(dir)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	return rep
}

func requireStill(t testing.TB, r *Ring, want Still, op Op, at time.Time) {
	t.Helper()
	got, err := r.Find(want.Camera, want.Kind, op, at)
	require.NoError(t, err)
	require.True(t, got.Time.Equal(want.Time), "time is %s, want %s", got.Time, want.Time)
	require.True(t, bytes.Equal(want.JPEG, got.JPEG), "bytes differ")
	require.Equal(t, want.Camera, got.Camera)
	require.Equal(t, want.Kind, got.Kind)
	require.Equal(t, time.UTC, got.Time.Location())
}

func reason(t testing.TB, err error) Reason {
	t.Helper()
	none, ok := errors.AsType[*NoneError](err)
	require.True(t, ok, "%v is no *NoneError", err)
	require.NotEmpty(t, none.Error())
	return none.Reason
}

func TestAppendFindReopen(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := filepath.Join(t.TempDir(), "stills")
	opts := small
	opts.Registerer = prometheus.NewRegistry()
	r, err := Open(dir, opts)
	require.NoError(t, err)
	var list []Still
	for i := range 40 {
		s := still("cam", Preview, time.Duration(i)*time.Second, 5000+i)
		list = append(list, s)
		require.NoError(t, r.Append(s))
	}
	look := func(r *Ring) {
		t.Helper()
		for i, s := range list {
			requireStill(t, r, s, At, s.Time)
			requireStill(t, r, s, AtOrBefore, s.Time)
			requireStill(t, r, s, AtOrAfter, s.Time)
			requireStill(t, r, s, Before, s.Time.Add(1))
			requireStill(t, r, s, After, s.Time.Add(-1))
			if i > 0 {
				requireStill(t, r, list[i-1], Before, s.Time)
				requireStill(t, r, s, After, list[i-1].Time)
			}
		}
		_, err := r.Find("cam", Preview, Before, list[0].Time)
		require.Equal(t, ReasonNothing, reason(t, err))
		_, err = r.Find("cam", Preview, After, list[39].Time)
		require.Equal(t, ReasonNothing, reason(t, err))
		_, err = r.Find("cam", Preview, At, list[3].Time.Add(1))
		require.Equal(t, ReasonNothing, reason(t, err))
		_, err = r.Find("cam", Main, Before, epoch.Add(time.Hour))
		require.Equal(t, ReasonNever, reason(t, err))
		_, err = r.Find("other", Preview, Before, epoch.Add(time.Hour))
		require.Equal(t, ReasonNever, reason(t, err))
	}
	look(r)
	s := r.Stats()
	require.Equal(t, 40, s.Stills)
	require.EqualValues(t, 40, s.Appended)
	require.True(t, s.Oldest.Equal(epoch))
	require.Greater(t, s.Segments, 2)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Append(list[0]), ErrClosed)
	rep := requireClean(t, dir)
	require.Equal(t, 40, rep.Stills)

	r, err = Open(dir, small)
	require.NoError(t, err)
	look(r)
	// The segment that was being written goes on.
	before := r.Stats().Segments
	require.NoError(t, r.Append(still("cam", Preview, time.Hour, 100)))
	require.Equal(t, before, r.Stats().Segments)
	require.NoError(t, r.Close())
	requireClean(t, dir)
}

func TestAppendRefuses(t *testing.T) {
	r := open(t, t.TempDir(), small)
	good := still("cam", Main, 0, 10)
	for name, change := range map[string]func(*Still){
		"no camera":   func(s *Still) { s.Camera = "" },
		"long camera": func(s *Still) { s.Camera = strings.Repeat("x", 256) },
		"no bytes":    func(s *Still) { s.JPEG = nil },
		"too big":     func(s *Still) { s.JPEG = make([]byte, 64<<10) },
		"no kind":     func(s *Still) { s.Kind = 0 },
		"no time":     func(s *Still) { s.Time = time.Time{} },
		"far time":    func(s *Still) { s.Time = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		s := good
		change(&s)
		require.ErrorIs(t, r.Append(s), ErrInvalid, name)
	}
	require.Zero(t, r.Stats().Segments, "what is refused makes no segment")
	good.Camera = strings.Repeat("x", 255)
	good.JPEG = make([]byte, 64<<10-750)
	require.NoError(t, r.Append(good))
	requireStill(t, r, good, At, good.Time)
	_, err := r.Find("", Main, At, epoch)
	require.ErrorIs(t, err, ErrInvalid)
	_, err = r.Find("cam", 7, At, epoch)
	require.ErrorIs(t, err, ErrInvalid)
	_, err = r.Find("cam", Main, 9, epoch)
	require.ErrorIs(t, err, ErrInvalid)
}

func TestLargestStill(t *testing.T) {
	r := open(t, memDir(t), small)
	// The largest that Append takes must fit an empty segment, whatever the id's length.
	for _, id := range []string{"c", "cam", strings.Repeat("y", 254), strings.Repeat("x", 255)} {
		took := false
		for n := 64<<10 - 740; n < 64<<10; n += 3 {
			s := Still{id, Main, epoch.Add(time.Duration(n)), picture(1, n)}
			err := r.Append(s)
			if err != nil {
				require.ErrorIs(t, err, ErrInvalid)
				break
			}
			took = true
			requireStill(t, r, s, At, s.Time)
		}
		require.True(t, took)
	}
}

func TestFindBeyondTheRange(t *testing.T) {
	r := open(t, t.TempDir(), small)
	s := still("cam", Main, 0, 10)
	require.NoError(t, r.Append(s))
	requireStill(t, r, s, After, time.Time{})
	requireStill(t, r, s, Before, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
}

func TestClockStepsHideNothing(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	rng := rand.New(rand.NewPCG(1, 2))
	var list []Still
	for i := range 300 {
		s := still("cam", Preview, time.Duration(rng.Int64N(int64(time.Hour))), 1000+i)
		list = append(list, s)
		require.NoError(t, r.Append(s))
	}
	look := func() {
		for range 1000 {
			at := epoch.Add(time.Duration(rng.Int64N(int64(time.Hour))))
			var want *Still
			for i, s := range list {
				if s.Time.Before(at) && (want == nil || s.Time.After(want.Time)) {
					want = &list[i]
				}
			}
			if want != nil {
				requireStill(t, r, *want, Before, at)
			}
		}
	}
	require.Zero(t, r.Stats().DroppedSegments)
	look()
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	look()
}

func TestSameTimeReplaces(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	var last Still
	// Within a segment, and over several.
	for i := range 30 {
		last = Still{"cam", Main, epoch, picture(uint64(i), 9000)}
		require.NoError(t, r.Append(last))
		requireStill(t, r, last, At, epoch)
	}
	require.Greater(t, r.Stats().Segments, 3)
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	for _, op := range []Op{At, AtOrBefore, AtOrAfter} {
		requireStill(t, r, last, op, epoch)
	}
	requireStill(t, r, last, Before, epoch.Add(time.Hour))
	requireStill(t, r, last, After, epoch.Add(-time.Hour))
	requireClean(t, dir)
}

func TestCapAndPruned(t *testing.T) {
	dir := t.TempDir()
	small := small
	small.MaxBytes = 7 * small.SegmentBytes // too few for two lanes
	r := open(t, dir, small)
	require.NoError(t, r.Append(still("old", Preview, -time.Hour, 100)))
	for i := range 200 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 20000)))
		require.LessOrEqual(t, diskBytes(t, dir), small.MaxBytes)
	}
	look := func() {
		_, err := r.Find("cam", Preview, AtOrBefore, epoch)
		require.Equal(t, ReasonPruned, reason(t, err))
		_, err = r.Find("old", Preview, Before, epoch)
		require.Equal(t, ReasonPruned, reason(t, err), "also where nothing is left")
		_, err = r.Find("cam", Main, Before, epoch)
		require.Equal(t, ReasonNever, reason(t, err))
		requireStill(t, r, still("cam", Preview, 199*time.Second, 20000), Before, epoch.Add(time.Hour))
		require.LessOrEqual(t, r.Stats().Bytes, small.MaxBytes)
	}
	look()
	require.NotZero(t, r.Stats().DroppedSegments)
	require.NoError(t, r.Close())
	requireClean(t, dir)
	r = open(t, dir, small)
	look()
	// The mark of "old" goes on from segment to segment.
	for i := range 200 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(1000+i)*time.Second, 20000)))
	}
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	_, err := r.Find("old", Preview, Before, epoch)
	require.Equal(t, ReasonPruned, reason(t, err))
}

// diskBytes is what the segments take on disk, and no less than their sizes.
func diskBytes(t testing.TB, dir string) (total int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		total += max(info.Size(), blocks(info))
	}
	return total
}

func TestSmallerCap(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	for i := range 60 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 10000)))
	}
	require.NoError(t, r.Close())
	less := small
	less.MaxBytes = 256 << 10
	r = open(t, dir, less)
	require.LessOrEqual(t, diskBytes(t, dir), less.MaxBytes)
	requireStill(t, r, still("cam", Preview, 59*time.Second, 10000), Before, epoch.Add(time.Hour))
	require.NoError(t, r.Close())
	least := Options{MaxBytes: 128 << 10, MinFree: -1}
	r = open(t, dir, least)
	for i := range 60 {
		require.NoError(t, r.Append(still("cam", Main, time.Duration(i)*time.Second, 10000)))
		require.LessOrEqual(t, diskBytes(t, dir), least.MaxBytes)
	}
}

func TestSegmentSize(t *testing.T) {
	for _, c := range []struct{ max, segment, want int64 }{
		{4 << 30, 0, 16 << 20},
		{4 << 30, 1 << 20, 1 << 20},
		{100 << 20, 0, 100 << 20 / 8 &^ 4095},
		{20 << 20, 0, 4 << 20},
		{6 << 20, 0, 3 << 20},
		{128 << 10, 0, 64 << 10},
	} {
		o, err := Options{MaxBytes: c.max, SegmentBytes: c.segment}.withDefaults()
		require.NoError(t, err)
		require.Equal(t, c.want, o.SegmentBytes, "max %d", c.max)
	}
	for _, o := range []Options{{}, {MaxBytes: 100000}, {MaxBytes: 1 << 30, SegmentBytes: 1}, {MaxBytes: 1 << 40, SegmentBytes: 2 << 30}} {
		_, err := Open(t.TempDir(), o)
		require.ErrorContains(t, err, "_size of")
	}
}

func TestGaps(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	require.NoError(t, r.Append(still("cam", Preview, 0, 100)))
	require.NoError(t, r.Gap("cam", at(10), time.Time{}, "the camera does not answer"))
	require.NoError(t, r.Gap("cam", at(10), at(20), "wrong password"))
	require.NoError(t, r.Append(still("cam", Preview, 30*time.Second, 100)))
	require.NoError(t, r.Gap("cam", at(40), time.Time{}, strings.Repeat("ä", 2000)))
	require.NoError(t, r.Gap("never", at(-100), time.Time{}, "no video"))
	require.ErrorIs(t, r.Gap("cam", at(2), at(1), ""), ErrInvalid)
	require.ErrorIs(t, r.Gap("", at(2), at(3), ""), ErrInvalid)
	look := func() {
		t.Helper()
		_, err := r.Find("cam", Preview, At, at(15))
		none, _ := errors.AsType[*NoneError](err)
		require.Equal(t, ReasonOffline, none.Reason)
		require.Equal(t, &Gap{"cam", at(10), at(20), "wrong password"}, none.Gap)
		requireStill(t, r, still("cam", Preview, 0, 100), Before, at(15))
		_, err = r.Find("cam", Preview, After, at(50))
		require.Equal(t, ReasonOffline, reason(t, err))
		_, err = r.Find("never", Main, Before, at(0))
		require.ErrorContains(t, err, "no video")
		_, err = r.Find("cam", Preview, At, at(25))
		require.Equal(t, ReasonNothing, reason(t, err))
		require.Len(t, r.Gaps("cam", time.Time{}, time.Time{}), 2)
		require.Len(t, r.Gaps("cam", at(20), at(39)), 1)
		require.Len(t, r.Gaps("cam", at(21), at(39)), 0)
		require.Len(t, r.Gaps("cam", at(1000), time.Time{}), 1)
	}
	look()
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	look()
	for i := range 20 {
		require.NoError(t, r.Append(still("cam", Main, time.Duration(i), 10000)))
	}
	look()
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	look()
	requireClean(t, dir)
}

func TestRelease(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	for i := range 50 {
		require.NoError(t, r.Append(still("cam", Main, time.Duration(i), 15000)))
	}
	n := r.Stats().Segments
	freed, err := r.Release(100 << 10)
	require.NoError(t, err)
	require.EqualValues(t, 128<<10, freed)
	require.Equal(t, n-2, r.Stats().Segments)
	freed, err = r.Release(1 << 40)
	require.NoError(t, err)
	require.Positive(t, freed)
	require.Equal(t, 1, r.Stats().Segments)
	requireStill(t, r, still("cam", Main, 49, 15000), Before, epoch.Add(time.Hour))
}

func TestTwoOpens(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	_, err := Open(dir, small)
	require.ErrorContains(t, err, "already running")
	require.NoError(t, r.Close())
	r2 := open(t, dir, small)
	require.NoError(t, r2.Append(still("cam", Main, 0, 10)))
}

func TestParseKind(t *testing.T) {
	for _, k := range []Kind{Preview, Main} {
		got, err := ParseKind(k.String())
		require.NoError(t, err)
		require.Equal(t, k, got)
	}
	_, err := ParseKind("Preview")
	require.ErrorContains(t, err, "preview or main")
	require.Equal(t, "kind(9)", fmt.Sprint(Kind(9)))
}
