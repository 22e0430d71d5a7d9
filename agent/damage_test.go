package agent

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// TestADamagedJournalStartsAndAnEventSaysSo: the file is hit while the bridge is off, and again while it runs.
func TestADamagedJournalStartsAndAnEventSaysSo(t *testing.T) {
	cfg := configs.Default()
	cfg.API.Listen, cfg.Bridge.Data = "127.0.0.1:0", t.TempDir()
	cfg.Bridge.ID, cfg.Bridge.Name, cfg.Bridge.Account = "bridge-1", "Yard", "acc"
	s := &site{t: t, cfg: cfg, log: &lockedBuffer{}, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	path := filepath.Join(cfg.Bridge.Data, JournalFile)
	s.left(func(j *journal.Journal) {
		for i := range 50 {
			ev := vms.Event{ID: string(rune('a' + i)), Type: vms.TypeMotion, StartTimestamp: vms.At(time.Unix(int64(1e9+i), 0)), EndTimestamp: vms.Ptr(time.Unix(int64(1e9+i), 0)),
				ActorID: "gate", ActorType: vms.ActorCamera, AccountID: "acc", ActorAccountID: "acc", CreatorID: vms.CreatorMotion}
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
		if ev.Type == typeOperation {
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

// TestDamageIsToldInAnyOrder: some of it before there is an outlet.
func TestDamageIsToldInAnyOrder(t *testing.T) {
	c := casualties{bridge: configs.Bridge{ID: "b", Account: "acc"}}
	out := &outlet{wake: make(chan struct{}, 1), touched: map[string]time.Time{}}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c.Journal(journal.Damage{Time: at, Cause: "first"})
	c.Tell(out)
	c.Journal(journal.Damage{Time: at.Add(time.Second), Cause: "second"})
	require.Len(t, out.waiting, 2)
	require.Equal(t, at.Add(time.Second), out.waiting[1].StartTimestamp.Time)
}
