package stills

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

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
