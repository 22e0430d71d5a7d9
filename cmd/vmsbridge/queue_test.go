package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/control"
	"vmsbridge/agent/outbound"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

func motionEvent(camera string, start time.Time) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start),
		EndTimestamp: vms.Ptr(start.Add(3 * time.Second)), Span: true, AccountID: "acc",
		ActorID: camera, ActorAccountID: "acc", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "x", Vendor: "y"}))
	ev.ID = ev.NaturalID()
	return ev
}

// withJournal makes a data folder with a journal of n waiting events, of which the first is parked,
// and its ids.
func withJournal(t *testing.T, n int) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	j, err := journal.Open(filepath.Join(dir, archive.JournalFile), journal.Options{})
	require.NoError(t, err)
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range n {
		ev := motionEvent("gate", start.Add(time.Duration(i)*time.Minute))
		require.NoError(t, j.Put(ev, true))
		ids = append(ids, ev.ID)
	}
	first, err := j.Peek(1)
	require.NoError(t, err)
	require.NoError(t, j.Park(first[0].Event.ID, first[0].Revision, "400 the account does not exist"))
	require.NoError(t, j.Close())
	return dir, ids
}

func TestQueue(t *testing.T) {
	dir, ids := withJournal(t, 3)
	list := func() string {
		r := do(t, "queue", "list", "--data", dir)
		require.Zero(t, r.code, r.err)
		return r.out
	}
	out := list()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Equal(t, "2 waiting, 1 parked", lines[0])
	require.Len(t, lines, 4)
	require.Contains(t, lines[1], ids[1], "oldest first")
	require.Contains(t, lines[3], ids[0]+"  400 the account does not exist")
	require.Equal(t, out, list(), "list changes nothing")

	r := do(t, "queue", "list", "--json", "--data", dir)
	require.Equal(t, 3, strings.Count(r.out, "\n"))
	require.Contains(t, r.out, `"parked":true`)

	r = do(t, "queue", "show", ids[1], "--data", dir)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, `"startTimestamp": "2026-01-01T12:01:00.000+00:00"`)

	r = do(t, "queue", "retry", "--all", "--data", dir)
	require.Equal(t, "waiting again: "+ids[0]+"\n", r.out)
	require.Contains(t, list(), "3 waiting, 0 parked")
	require.Equal(t, "nothing is parked\n", do(t, "queue", "retry", "--all", "--data", dir).out)

	r = do(t, "queue", "drop", ids[1], ids[2], "--data", dir)
	require.Zero(t, r.code, r.err)
	require.Contains(t, list(), "1 waiting, 0 parked")

	for _, args := range [][]string{{"show", "nothing"}, {"retry", ids[1]}, {"drop", "nothing"}} {
		r = do(t, append([]string{"queue", "--data", dir}[:1], append(args, "--data", dir)...)...)
		require.Equal(t, exitFailed, r.code, args)
		require.Contains(t, r.err, "no such event here")
	}
}

// TestQueueOfARunningBridge asks the bridge that has the journal open.
func TestQueueOfARunningBridge(t *testing.T) {
	dir, ids := withJournal(t, 3)
	j, err := journal.Open(filepath.Join(dir, archive.JournalFile), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	r := do(t, "queue", "list", "--data", dir)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "another program has")

	l, err := control.Listen(dir)
	require.NoError(t, err)
	bridge := &http.Server{Handler: outbound.QueueHandler(outbound.QueueOf(j))}
	done := make(chan error, 1)
	go func() { done <- bridge.Serve(l) }()
	defer func() { _ = bridge.Close(); <-done }()
	r = do(t, "queue", "list", "--data", dir)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, "2 waiting, 1 parked\n")
	require.Contains(t, r.out, ids[0]+"  400 the account does not exist")
	require.Equal(t, "waiting again: "+ids[0]+"\n", do(t, "queue", "retry", "--all", "--data", dir).out)
	require.Contains(t, do(t, "queue", "show", ids[1], "--data", dir).out, "12:01:00.000")
	require.Equal(t, "dropped: "+ids[1]+"\n", do(t, "queue", "drop", ids[1], "--data", dir).out)
	r = do(t, "queue", "drop", ids[1], "--data", dir)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "no such event here; vmsbridge queue list")
	require.Contains(t, do(t, "queue", "list", "--data", dir).out, "2 waiting, 0 parked\n")
}

func TestQueueWithoutAJournal(t *testing.T) {
	dir := t.TempDir()
	r := do(t, "queue", "list", "--data", dir)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "has this bridge ever run")
	require.NoFileExists(t, filepath.Join(dir, archive.JournalFile), "looking makes nothing")
	file := write(t, "b.yaml", "bridge: {data: "+dir+"}\n")
	require.Contains(t, do(t, "queue", "list", "--config", file).err, dir, "the folder of the configuration")
	dir, _ = withJournal(t, 1)
	file = write(t, "bad.yaml", "bridge: {data: "+dir+"}\ncameras: nonsense\n")
	require.Contains(t, do(t, "queue", "list", "--config", file).out, "0 waiting, 1 parked",
		"a configuration with problems says where the data is")
}

func TestQueueResend(t *testing.T) {
	dir, ids := withJournal(t, 3)
	j, err := journal.Open(filepath.Join(dir, archive.JournalFile), journal.Options{})
	require.NoError(t, err)
	list, err := j.Peek(9)
	require.NoError(t, err)
	_, err = j.AckAll(list)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	r := do(t, "queue", "resend", "--since", "2026-01-01T12:02:00Z", "--until", "2026-01-02T00:00:00Z", "--data", dir)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "waiting again: 1 events\n", r.out)
	r = do(t, "queue", "list", "--data", dir)
	require.Contains(t, r.out, "1 waiting, 1 parked\n")
	require.Contains(t, r.out, ids[2])
	for _, args := range [][]string{{}, {"--since", "yesterday-ish"}, {"--since", "1h", "--until", "2h"}} {
		require.Equal(t, exitUsage, do(t, append([]string{"queue", "resend", "--data", dir}, args...)...).code, "%v",
			args)
	}
}
