package outbound

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/control"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

func event(start time.Time) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start),
		EndTimestamp: vms.Ptr(start.Add(3 * time.Second)), Span: true, AccountID: "acc",
		ActorID: "gate/ö?&", ActorAccountID: "acc", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "x", Vendor: "y"}))
	ev.ID = ev.NaturalID()
	return ev
}

// filled is a journal of four events, of which two wait and two are parked, and their ids in that
// order.
func filled(t *testing.T, dir string) (*journal.Journal, []string) {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, "journal.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	for i := range 4 {
		require.NoError(t, j.Put(event(time.Date(2026, 1, 1, 12, i, 0, 0, time.UTC)), true))
	}
	list, err := j.Peek(4)
	require.NoError(t, err)
	var ids []string
	for i, e := range list {
		ids = append(ids, e.Event.ID)
		if i >= 2 {
			require.NoError(t, j.Park(e.Event.ID, e.Revision, "400 no such camera"))
		}
	}
	return j, ids
}

// serve is the queue of a running bridge.
func serve(t *testing.T, data string, q Queue) Queue {
	t.Helper()
	l, err := control.Listen(data)
	require.NoError(t, err)
	s := &http.Server{Handler: QueueHandler(q)}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return AskQueue(control.Client(data))
}

// TestQueue does the same to a journal, and to a bridge that has it.
func TestQueue(t *testing.T) {
	for name, of := range map[string]func(t *testing.T, dir string, j *journal.Journal) Queue{
		"journal":        func(_ *testing.T, _ string, j *journal.Journal) Queue { return QueueOf(j) },
		"running bridge": func(t *testing.T, dir string, j *journal.Journal) Queue { return serve(t, dir, QueueOf(j)) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			j, ids := filled(t, dir)
			q := of(t, dir, j)
			list := func(limit int) (l Listing, got []string) {
				l, err := q.List(ctx, limit)
				require.NoError(t, err)
				for _, e := range l.Entries {
					got = append(got, e.ID)
				}
				return l, got
			}
			l, got := list(10)
			require.Equal(t, []int{2, 2}, []int{l.Waiting, l.Parked})
			require.Equal(t, ids, got)
			require.False(t, l.Entries[1].Parked)
			require.True(t, l.Entries[2].Parked)
			require.Equal(t, "400 no such camera", l.Entries[3].Reason)
			require.WithinDuration(t, time.Now(), l.Entries[0].Since, time.Minute)
			_, got = list(1)
			require.Equal(t, []string{ids[0], ids[2]}, got, "so many of each kind")
			_, got = list(0)
			require.Empty(t, got)

			ev, err := q.Show(ctx, ids[3])
			require.NoError(t, err)
			require.Equal(t, ids[3], ev.ID)
			require.Equal(t, "gate/ö?&", ev.ActorID)
			_, err = q.Show(ctx, "nothing")
			require.ErrorIs(t, err, ErrUnknown)
			require.ErrorContains(t, err, "nothing: no such event")

			done, err := q.Retry(ctx, Which{IDs: []string{ids[2], ids[0], ids[3]}})
			require.ErrorIs(t, err, ErrUnknown, "the second one is not parked")
			require.ErrorContains(t, err, ids[0]+": no such event")
			require.Equal(t, []string{ids[2]}, done, "it says how far it came")
			done, err = q.Retry(ctx, Which{All: true})
			require.NoError(t, err)
			require.Equal(t, []string{ids[3]}, done)
			done, err = q.Drop(ctx, Which{IDs: ids[:2]})
			require.NoError(t, err)
			require.Equal(t, ids[:2], done)
			l, got = list(10)
			require.Equal(t, []int{2, 0}, []int{l.Waiting, l.Parked})
			require.Equal(t, ids[2:], got)
			done, err = q.Drop(ctx, Which{All: true})
			require.NoError(t, err)
			require.Empty(t, done)
			_, err = q.Show(ctx, ids[0])
			require.NoError(t, err, "what was dropped stays in the journal")
		})
	}
}

// TestAskThatCannot: where no bridge runs, or it has a journal that is closed, the error says so.
func TestAskThatCannot(t *testing.T) {
	dir := t.TempDir()
	_, err := AskQueue(control.Client(dir)).List(t.Context(), 1)
	require.ErrorIs(t, err, control.ErrNotRunning)

	j, ids := filled(t, dir)
	q := serve(t, dir, QueueOf(j))
	require.NoError(t, j.Close())
	_, err = q.List(t.Context(), 1)
	require.ErrorContains(t, err, "503")
	require.ErrorContains(t, err, "closed")
	_, err = q.Drop(t.Context(), Which{IDs: ids[:1]})
	require.ErrorContains(t, err, "closed")

	if os.Geteuid() != 0 { // root may
		require.NoError(t, os.Chmod(filepath.Join(dir, control.Socket), 0))
		_, err = q.List(t.Context(), 1)
		require.ErrorIs(t, err, fs.ErrPermission)
	}
}

// A time is reported once more, but for what waits and what is parked.
func TestResend(t *testing.T) {
	for name, of := range map[string]func(t *testing.T, dir string, j *journal.Journal) Queue{
		"journal":        func(_ *testing.T, _ string, j *journal.Journal) Queue { return QueueOf(j) },
		"running bridge": func(t *testing.T, dir string, j *journal.Journal) Queue { return serve(t, dir, QueueOf(j)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j, ids := filled(t, dir)
			list, err := j.Peek(1)
			require.NoError(t, err)
			require.Equal(t, ids[0], list[0].Event.ID)
			_, err = j.AckAll(list)
			require.NoError(t, err)
			q := of(t, dir, j)
			at := func(minute int) time.Time { return time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC) }
			n, err := q.Resend(t.Context(), When{Since: at(1)})
			require.NoError(t, err)
			require.Zero(t, n, "it ended before")
			n, err = q.Resend(t.Context(), When{Since: at(0), Until: at(5)})
			require.NoError(t, err)
			require.Equal(t, 1, n)
			list, err = j.Peek(9)
			require.NoError(t, err)
			require.Len(t, list, 2)
			require.Equal(t, ids[0], list[1].Event.ID, "behind what waits")
		})
	}
}
