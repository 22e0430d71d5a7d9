package agent

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/control"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/storage/vfs/vfstest"
	"vmsbridge/uplink/vms"
)

// TestADamagedJournalOnAFullDiskStarts: the recovery needs as much room again as the journal has,
// which the stills give.
func TestADamagedJournalOnAFullDiskStarts(t *testing.T) {
	data := vfstest.TinyDiskHeld(t, 56<<20)
	cfg := configs.Default()
	cfg.API.Listen, cfg.Bridge.Data = "127.0.0.1:0", data
	cfg.Bridge.ID, cfg.Bridge.Name, cfg.Bridge.Account = "bridge-1", "Yard", "acc"
	s := &site{t: t, cfg: cfg, log: &lockedBuffer{},
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	const events = 24
	s.left(func(j *journal.Journal) {
		var list []vms.Event
		for i := range events {
			ev := vms.Event{ID: fmt.Sprint("event", i), Type: vms.TypeMotion,
				StartTimestamp: vms.At(time.Unix(int64(1e9+i), 0)), EndTimestamp: vms.Ptr(time.Unix(int64(1e9+i), 0)),
				ActorID: "gate", ActorType: vms.ActorCamera, AccountID: "acc", ActorAccountID: "acc",
				CreatorID: vms.CreatorMotion}
			text, err := vms.MakeData(map[string]any{"type": "vms.test.v1", "creatorId": "x",
				"text": strings.Repeat("x", 500_000)})
			require.NoError(t, err)
			ev.SetData(text)
			list = append(list, ev)
		}
		require.NoError(t, j.PutAll(list, true))
	})
	path := filepath.Join(data, archive.JournalFile)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, 4096), 0) // a meta page
	require.NoError(t, err)
	require.NoError(t, f.Close())
	ring, err := stills.Open(filepath.Join(data, archive.StillsDir),
		stills.Options{MaxBytes: 28 << 20, SegmentBytes: 4 << 20, MinFree: -1})
	require.NoError(t, err)
	for i := range 120 {
		require.NoError(t,
			ring.Append(stills.Still{Camera: "gate", Kind: stills.Preview, Time: time.Unix(int64(1e9+i), 0),
				JPEG: make([]byte, 200_000)}))
	}
	require.NoError(t, ring.Close())
	require.ErrorIs(t, os.WriteFile(filepath.Join(data, "ballast"), make([]byte, 100<<20), 0o600), syscall.ENOSPC)

	_, stop := s.run(nil)
	stop()
	require.Contains(t, s.log.String(), "set aside")
	found := 0
	for _, ev := range s.left(nil) {
		if ev.Type == vms.TypeMotion {
			found++
		}
	}
	require.Equal(t, events, found)
}

// TestADiskWithoutRoomForAFileStarts: the bridge runs, and says that commands cannot ask it, which
// they can as soon as there is room for the socket.
func TestADiskWithoutRoomForAFileStarts(t *testing.T) {
	data := vfstest.FewFiles(t, 64<<20, 30)
	cfg := configs.Default()
	cfg.API.Listen, cfg.Bridge.Data = "127.0.0.1:0", data
	cfg.Bridge.ID, cfg.Bridge.Name, cfg.Bridge.Account = "bridge-1", "Yard", "acc"
	s := &site{t: t, cfg: cfg, log: &lockedBuffer{},
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	_, stop := s.run(nil)
	stop()
	ballast, full := []string{}, error(nil)
	for full == nil {
		name := filepath.Join(data, fmt.Sprint("ballast", len(ballast)))
		if full = os.WriteFile(name, nil, 0o600); full == nil {
			ballast = append(ballast, name)
		}
	}
	require.ErrorIs(t, full, syscall.ENOSPC)
	a, stop := s.run(nil)
	code, _, body := s.get("/healthz", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, string(body), "has no room for another file")
	require.Eventually(t, func() bool { code, _, _ := s.get("/readyz", "", nil); return code == http.StatusOK },
		time.Minute, 10*time.Millisecond, "events can be stored")
	require.Contains(t, s.log.String(), "other commands cannot ask this bridge")
	ev := vms.Event{ID: "one", Type: vms.TypeMotion, StartTimestamp: vms.At(time.Now()), ActorID: "gate",
		ActorType: vms.ActorCamera, AccountID: "acc", ActorAccountID: "acc"}
	require.NoError(t, a.archive.Journal.Put(ev, false))
	for _, name := range ballast {
		require.NoError(t, os.Remove(name))
	}
	require.Eventually(t, func() bool {
		res, err := control.Client(data).Get(control.URL + "/status")
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, time.Minute, 100*time.Millisecond)
	stop()
}
