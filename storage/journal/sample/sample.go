package sample

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// Epoch is the time that samples are told from.
var Epoch = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

// GoesOn is the end of an event that has none.
const GoesOn = time.Duration(math.MinInt64)

// Event is a motion event of a camera, from start to end after the epoch.
func Event(actor string, start, end time.Duration) vms.Event {
	ev := vms.Event{
		Type: vms.TypeMotion, StartTimestamp: vms.At(Epoch.Add(start)), Span: true, AccountID: "acc", ActorID: actor,
		ActorAccountID: "acc", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion,
	}
	if end != GoesOn {
		ev.EndTimestamp = vms.Ptr(Epoch.Add(end))
	}
	d, err := vms.MakeData(map[string]any{"type": "vms.test.v1", "creatorId": vms.CreatorMotion,
		"url": "http://x/?a=1&b=<2>"})
	if err != nil {
		panic(err)
	}
	ev.SetData(d)
	ev.ID = ev.NaturalID()
	return ev
}

// Path is that of a journal that is not there yet, in a Folder of its own.
func Path(t testing.TB) string { return filepath.Join(Folder(t), "journal.db") }

// Folder is a directory in memory where there is one, since tests flush often, and nobody cuts
// their power; benchmarks and the torture, which fills it, get one on the disk.
func Folder(t testing.TB) string {
	t.Helper()
	if _, ok := t.(*testing.B); ok || os.Getenv("TORTURE_FOR") != "" {
		return t.TempDir()
	}
	return Memory(t)
}

// Memory is a directory in memory where there is one.
func Memory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
