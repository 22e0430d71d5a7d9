package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// emptyBook is a ledger of new files.
func emptyBook(t *testing.T) *ledger {
	t.Helper()
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, eventsFile), journal.Options{})
	require.NoError(t, err)
	reg, err := registry.Open(filepath.Join(dir, registryFile))
	require.NoError(t, err)
	l := &ledger{Journal: j, registry: reg, log: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() { require.NoError(t, errors.Join(l.Journal.Close(), l.registry.Close())) })
	return l
}

// fill puts ended motions number from up to to of an account's camera.
func (l *ledger) fill(t *testing.T, account string, from, to int) {
	t.Helper()
	for ; from < to; from += 2000 {
		list := make([]vms.Event, min(2000, to-from))
		for i := range list {
			list[i] = motion(account, "cam", from+i)
			list[i].EndTimestamp = vms.Ptr(list[i].StartTimestamp.Add(time.Second))
			list[i] = keyed(list[i])
		}
		require.NoError(t, l.Journal.PutAll(list, false))
	}
}

// TestTheOldestGoAtTheLimit: events beyond --max-size are removed, the oldest first, and it is
// told. An account that has little loses none of them, however old they are.
func TestTheOldestGoAtTheLimit(t *testing.T) {
	for name, c := range map[string]struct {
		loud, quiet int
		keeps       bool // the quiet account all
	}{
		"one account":                  {loud: 8000},
		"one much, one little and old": {loud: 8000, quiet: 1200, keeps: true},
		"two alike":                    {loud: 4000, quiet: 4000},
	} {
		t.Run(name, func(t *testing.T) {
			l := emptyBook(t)
			l.fill(t, "quiet", 0, c.quiet)
			l.fill(t, "loud", c.quiet, c.quiet+c.loud)
			s, err := l.file().OutboxStats()
			require.NoError(t, err)
			used := s.Bytes - s.Free
			var log bytes.Buffer
			r := newRetention(l, t.TempDir(), 0, room{bytes: used / 2}, nil, slog.New(slog.NewTextHandler(&log, nil)))
			require.NoError(t, r.once(context.Background()))
			s, err = l.file().OutboxStats()
			require.NoError(t, err)
			require.LessOrEqual(t, s.Bytes-s.Free, used/2*11/10)
			require.Greater(t, s.Events, (c.loud+c.quiet)/4, "not more than needed")
			require.Contains(t, log.String(), "--max-size")
			has := func(account string, n int) bool {
				_, err := l.Get(account, motion(account, "cam", n).ID)
				if err != nil {
					require.ErrorIs(t, err, journal.ErrNotFound)
				}
				return err == nil
			}
			require.True(t, has("loud", c.quiet+c.loud-1), "the newest stays")
			require.False(t, has("loud", c.quiet), "the oldest goes")
			if c.quiet > 0 {
				require.True(t, has("quiet", c.quiet-1))
				require.Equal(t, c.keeps, has("quiet", 0))
			}
		})
	}
}

// A clock that jumps ahead has nothing removed; one that stays so for an hour is believed.
func TestAClockThatJumpsAhead(t *testing.T) {
	l := emptyBook(t)
	l.fill(t, "a", 0, 10)
	newest, err := l.Get("a", motion("a", "cam", 9).ID)
	require.NoError(t, err)
	var log bytes.Buffer
	r := newRetention(l, t.TempDir(), 24*time.Hour, room{}, nil, slog.New(slog.NewTextHandler(&log, nil)))
	wall, up := newest.StartTimestamp.Time, time.Duration(0)
	r.clock = func() (time.Time, time.Duration) { return wall, up }
	pass := func(steps int) {
		for range steps {
			require.NoError(t, r.once(t.Context()))
			wall, up = wall.Add(retainEvery), up+retainEvery
		}
	}
	events := func() int {
		s, err := l.file().OutboxStats()
		require.NoError(t, err)
		return s.Events
	}
	pass(20)
	require.Equal(t, 10, events())
	require.Empty(t, log.String())
	wall = wall.Add(400 * 24 * time.Hour)
	pass(6)
	require.Equal(t, 10, events(), "the clock has jumped")
	require.Contains(t, log.String(), "the clock was set")
	wall = wall.Add(-400 * 24 * time.Hour)
	pass(20)
	require.Equal(t, 10, events(), "and back")
	wall = wall.Add(400 * 24 * time.Hour)
	pass(8)
	require.Zero(t, events(), "it stays so")
}

// pruned is a store that keeps what it was asked to prune.
type pruned struct {
	Journal
	asked []journal.Retention
}

func (p *pruned) Prune(r journal.Retention) (int, error) {
	p.asked = append(p.asked, r)
	return p.Journal.Prune(r)
}

// Where events are kept for ever, the store is seen to all the same: PostgreSQL's partitions are
// made ahead by that. Nothing goes.
func TestKeptForEver(t *testing.T) {
	l := emptyBook(t)
	l.fill(t, "quiet", 0, 100)
	p := &pruned{Journal: l.Journal}
	r := newRetention(&ledger{Journal: p, registry: l.registry, log: l.log}, t.TempDir(), 0, room{}, nil, l.log)
	require.NoError(t, r.once(t.Context()))
	require.Len(t, p.asked, 1)
	p.asked[0].Stop = nil
	require.Equal(t, []journal.Retention{{}}, p.asked)
	s, err := l.file().OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 100, s.Events)
}

// TestLevel is what each may have so that the sum is right.
func TestLevel(t *testing.T) {
	for _, c := range []struct {
		each        []int64
		total, want int64
	}{
		{nil, 10, math.MaxInt64},
		{[]int64{10}, 5, 5},
		{[]int64{10, 1}, 11, math.MaxInt64},
		{[]int64{10, 1}, 6, 5},
		{[]int64{10, 10, 1}, 11, 5},
		{[]int64{3, 3, 3}, 6, 2},
		{[]int64{100, 50, 1}, 71, 35},
	} {
		require.Equal(t, c.want, level(c.each, c.total), "%v %d", c.each, c.total)
	}
}
