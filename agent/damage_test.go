package agent

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/api"
	"vmsbridge/agent/archive"
	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// bare is a site without cameras and without a service, whose files are in a folder.
func bare(t *testing.T, data string) *site {
	cfg := configs.Default()
	cfg.API.Listen, cfg.Bridge.Data = "127.0.0.1:0", data
	cfg.Bridge.ID, cfg.Bridge.Name, cfg.Bridge.Account = "bridge-1", "Yard", "acc"
	return &site{t: t, cfg: cfg, log: &lockedBuffer{},
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// TestADamagedJournalStartsAndAnEventSaysSo: the file is hit while the bridge is off, and again
// while it runs.
func TestADamagedJournalStartsAndAnEventSaysSo(t *testing.T) {
	s := bare(t, t.TempDir())
	cfg := s.cfg
	path := filepath.Join(cfg.Bridge.Data, archive.JournalFile)
	s.left(func(j *journal.Journal) {
		for i := range 50 {
			ev := vms.Event{ID: string(rune('a' + i)), Type: vms.TypeMotion,
				StartTimestamp: vms.At(time.Unix(int64(1e9+i), 0)), EndTimestamp: vms.Ptr(time.Unix(int64(1e9+i), 0)),
				ActorID: "gate", ActorType: vms.ActorCamera, AccountID: "acc", ActorAccountID: "acc",
				CreatorID: vms.CreatorMotion}
			require.NoError(t, j.Put(ev, i%2 == 0))
		}
	})
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(b[:4096]) // a meta page
	require.NoError(t, os.WriteFile(path, b, 0o600))

	_, stop := s.run(nil)
	stop()
	var said []vms.Event
	for _, ev := range s.left(nil) {
		if ev.Type == health.TypeOperation {
			said = append(said, ev)
		}
	}
	require.Len(t, said, 1)
	ev := said[0]
	require.Empty(t, vms.Check(ev), "a service takes it")
	require.Equal(t, vms.Actor{Type: vms.ActorBridge, ID: "bridge-1"}, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
	require.Equal(t, vms.CreatorHealth, ev.CreatorID)
	text, err := json.Marshal(ev)
	require.NoError(t, err)
	require.Contains(t, string(text), `"recoveredEvents":50`)
	require.Contains(t, string(text), `"waitingEvents":25`)
	require.Contains(t, string(text), "meta page")
	require.NotContains(t, string(text), cfg.Bridge.Data)
	require.Contains(t, s.log.String(), "set aside")
}

// TestADamagedRingStartsAndAnEventSaysSo: the newest segment of the stills is hit while the bridge
// is off.
func TestADamagedRingStartsAndAnEventSaysSo(t *testing.T) {
	s := bare(t, t.TempDir())
	cfg := s.cfg
	dir := filepath.Join(cfg.Bridge.Data, archive.StillsDir)
	ring, err := stills.Open(dir, stills.Options{MaxBytes: int64(cfg.Stills.MaxSize), MinFree: -1})
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t,
			ring.Append(stills.Still{Camera: "gate", Kind: stills.Preview, Time: time.Unix(int64(1e9+i), 0),
				JPEG: make([]byte, 5000)}))
	}
	require.NoError(t, ring.Close())
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	require.Len(t, segments, 1)
	f, err := os.OpenFile(segments[0], os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("damage"), 8000) // in the body of the second still
	require.NoError(t, err)
	require.NoError(t, f.Close())

	_, stop := s.run(nil)
	stop()
	var said []vms.Event
	for _, ev := range s.left(nil) {
		if ev.Type == health.TypeOperation {
			said = append(said, ev)
		}
	}
	require.Len(t, said, 1)
	require.Empty(t, vms.Check(said[0]), "a service takes it")
	text, err := json.Marshal(said[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"operation":"stillsRecovery"`)
	require.Contains(t, string(text), `"damagedStills":1`)
}

// TestADamagedFileOfUsersCostsNothing: every page of it in turn, the whole file, and one that
// cannot be read at all.
func TestADamagedFileOfUsersCostsNothing(t *testing.T) {
	s := bare(t, t.TempDir())
	cfg := s.cfg
	_, stop := s.run(nil)
	stop()
	path := filepath.Join(cfg.Bridge.Data, api.IdentityFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	user := firstUserID(t, path)
	for page := range len(whole)/4096 + 1 {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		if page == len(whole)/4096 {
			clear(b)
		} else {
			clear(b[min(page*4096, len(b)-4096):][:4096])
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, stop := s.run(nil)
		stop()
		require.Equal(t, user, firstUserID(t, path), "page %d: the user is the same", page)
	}
	said := 0
	for _, ev := range s.left(nil) {
		if text, err := json.Marshal(ev); err == nil && strings.Contains(string(text), "identityRecovery") {
			said++
		}
	}
	require.Positive(t, said)

	h, err := store.Hold(path, store.Options{})
	require.NoError(t, err)
	defer h.Close()
	a, stop := s.run(nil)
	defer stop()
	require.Contains(t, strings.Join(healthOf(a).Trouble, "\n"), "nobody can sign in at the bridge")
}

// TestWhatIsNoFileHoldsUpNoStart: a pipe, at whose other end nobody is, or a folder stands where a
// file of the bridge's should be.
func TestWhatIsNoFileHoldsUpNoStart(t *testing.T) {
	s := bare(t, t.TempDir())
	cfg := s.cfg
	_, stop := s.run(nil)
	stop()
	user := firstUserID(t, filepath.Join(cfg.Bridge.Data, api.IdentityFile))
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	folder := func(path string) error { return os.Mkdir(path, 0o700) }
	for _, c := range []struct {
		name string
		put  func(string) error
	}{
		{archive.JournalFile, pipe},
		{archive.JournalFile + ".log", pipe},
		{archive.JournalFile + ".log", folder},
		{archive.JournalFile + ".segment-0000000000000001", pipe},
		{archive.JournalFile + ".segment-0000000000000001", folder},
		{api.IdentityFile, pipe},
		{api.IdentityFile + ".copy", pipe},
		{api.FirstUserFile, pipe},
		{archive.StillsDir + "/MANIFEST", pipe},
	} {
		path := filepath.Join(cfg.Bridge.Data, c.name)
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, c.put(path))
		a, stop := s.run(nil)
		require.Subset(t, []string{"the journal was found damaged at the start", "the file of users was found damaged"},
			healthOf(a).Trouble, c.name)
		stop()
		if is, err := os.Lstat(path); err == nil {
			require.True(t, is.Mode().IsRegular(), "what was %s is still there", c.name)
		}
	}
	require.Equal(t, user, firstUserID(t, filepath.Join(cfg.Bridge.Data, api.IdentityFile)), "the user is the same")
}

func firstUserID(t *testing.T, path string) string {
	t.Helper()
	ids, err := store.Open(path, store.Options{})
	require.NoError(t, err)
	defer ids.Close()
	users, err := ids.Users("acc")
	require.NoError(t, err)
	require.Len(t, users, 1)
	return users[0].ID
}

// TestTheDataFolderGoes under a running bridge: it says so, takes no event, and goes on when the
// folder is back.
func TestTheDataFolderGoes(t *testing.T) {
	s := bare(t, filepath.Join(t.TempDir(), "data"))
	cfg := s.cfg
	a, stop := s.run(nil)
	put := func() error {
		return a.archive.Journal.Put(vms.Event{ID: "x", Type: vms.TypeMotion, StartTimestamp: vms.At(time.Unix(1e9, 0)),
			EndTimestamp: vms.Ptr(time.Unix(1e9, 0)),
			ActorID:      "gate", ActorType: vms.ActorCamera, AccountID: "acc", ActorAccountID: "acc",
			CreatorID: vms.CreatorMotion}, true)
	}
	require.NoError(t, put())
	status, _, _ := s.get("/readyz", "", nil)
	require.Equal(t, 200, status)
	require.NoError(t, os.Rename(cfg.Bridge.Data, cfg.Bridge.Data+"-moved"))
	require.ErrorIs(t, put(), journal.ErrGone)
	status, _, body := s.get("/readyz", "", nil)
	require.Equal(t, 503, status)
	require.Contains(t, string(body), "moved away or deleted")
	_, _, body = s.get("/healthz", "", nil)
	require.Contains(t, string(body), "moved away or deleted")
	require.NotContains(t, string(body), "free space")
	s.eventually("the log says so", func() bool { return strings.Contains(s.log.String(), "files are gone") })
	require.NoError(t, os.Rename(cfg.Bridge.Data+"-moved", cfg.Bridge.Data))
	require.NoError(t, put())
	status, _, _ = s.get("/readyz", "", nil)
	require.Equal(t, 200, status)
	stop()
}
