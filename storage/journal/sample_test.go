package journal

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

var epoch = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

// goesOn is the end of an event that has none.
const goesOn = time.Duration(math.MinInt64)

// event is a motion event of a camera, from start to end after the epoch.
func event(actor string, start, end time.Duration) vms.Event {
	ev := vms.Event{
		Type: vms.TypeMotion, StartTimestamp: vms.At(epoch.Add(start)), Span: true, AccountID: "acc", ActorID: actor,
		ActorAccountID: "acc", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion,
	}
	if end != goesOn {
		ev.EndTimestamp = vms.Ptr(epoch.Add(end))
	}
	d, err := vms.MakeData(map[string]any{"type": "vms.test.v1", "creatorId": vms.CreatorMotion, "url": "http://x/?a=1&b=<2>"})
	if err != nil {
		panic(err)
	}
	ev.SetData(d)
	ev.ID = ev.NaturalID()
	return ev
}

func temp(t testing.TB) string { return filepath.Join(folder(t), "journal.db") }

// folder is a directory in memory where there is one, since tests flush often, and nobody cuts their power; benchmarks and the torture,
// which fills it, get one on the disk.
func folder(t testing.TB) string {
	t.Helper()
	if _, ok := t.(*testing.B); ok || os.Getenv("TORTURE_FOR") != "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
