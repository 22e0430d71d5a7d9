package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs/vfstest"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// TestHealthTellsWhatIsWrongWithTheDisk of both programs: it is full, does not work, or is
// read-only. Both say so by themselves, with what to do about that and not about another,
// acknowledge nothing meanwhile, and are well again once it is over.
func TestHealthTellsWhatIsWrongWithTheDisk(t *testing.T) {
	t.Parallel()
	dir := vfstest.TinyDiskHeld(t, 96<<20)
	s := newSiteIn(t, dir, cameraYAML("one", sceneCamera(t, "mjpeg"), "", "tcp", "", ""))
	s.set("max_size: 256MiB", "max_size: 16MiB, segment_size: 4MiB, min_free: 1MiB")
	s.cloud.stop(10 * time.Second)
	var disk atomic.Int64 // what is wrong with it
	s.cloud = startSlow(t, &disk, "vmscloud", "run", "--data", s.path("cloud"), "--listen",
		fmt.Sprint("127.0.0.1:", s.cloudPort))
	s.cloud.line("vmscloud serves", 20*time.Second)
	s.bridge = startSlow(t, &disk, "vmsbridge", "run", "--config", s.yaml)
	s.bridge.line("registered with the service", 20*time.Second)

	reporter, err := client.New(client.Options{BaseURL: s.service, Token: client.Token(s.read(s.path("bridge.token")))})
	require.NoError(t, err)
	defer reporter.Close()
	local, err := client.New(client.Options{BaseURL: s.local, Token: client.Token(lanToken)})
	require.NoError(t, err)
	defer local.Close()
	began, n := time.Now().Add(-time.Hour), 0
	event := func() vms.Event {
		n++
		at := vms.At(began.Add(time.Duration(n) * time.Second))
		ev := vms.Event{Type: vms.TypeTamper, StartTimestamp: at, EndTimestamp: &at, AccountID: s.account,
			ActorID:        "one",
			ActorAccountID: s.account, ActorType: vms.ActorCamera, CreatorID: "e2e.disk"}
		ev.SetData(vms.CreatorDetails("e2e.disk", vms.CreatorInfo{ID: "e2e.disk", Vendor: "e2e"}))
		ev.ID = ev.NaturalID()
		return ev
	}
	acknowledged := map[*client.Client][]string{}
	report := func(c *client.Client) error {
		ev := event()
		err := c.Report(t.Context(), ev)
		if err == nil {
			acknowledged[c] = append(acknowledged[c], ev.ID)
		}
		return err
	}

	for _, c := range []struct {
		name         string
		wrong        func() (mend func())
		reason, does string
		never        []string
	}{
		{"full", func() func() { return fill(t, s.path("filler")) }, "is full", "free space",
			[]string{"read-only", "replace it"}},
		{"broken", func() func() { disk.Store(broken); return func() { disk.Store(0) } },
			"does not work", "replace it", []string{"full", "read-only", "free space"}},
		{"read-only", func() func() { disk.Store(readOnly); return func() { disk.Store(0) } },
			"is read-only", "mount it for writing", []string{"full", "free space", "does not work"}},
	} {
		require.NoError(t, report(reporter), c.name)
		require.NoError(t, report(local), c.name)
		mend := c.wrong()
		at := time.Now()
		for _, base := range []string{s.service, s.local} {
			// Nobody reports anything: they find out by themselves.
			until(t, 30*time.Second, "503 of "+base+", "+c.name, func() bool {
				code, _, _ := get(t, base+"/readyz", "")
				return code == http.StatusServiceUnavailable
			})
			t.Logf("%s: %s noticed after %v", c.name, base, time.Since(at).Round(100*time.Millisecond))
		}
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
			for _, at := range []*client.Client{reporter, local} {
				// Within its files there may be room on a full disk: what is acknowledged is there
				// in the end.
				if err := report(at); err != nil || c.name != "full" {
					require.ErrorContains(t, err, "503", c.name)
				}
			}
			for _, base := range []string{s.service, s.local} {
				for path, code := range map[string]int{"/readyz": 503, "/healthz": 200} {
					got, _, body := get(t, base+path, "")
					require.Equal(t, code, got, "%s: %s%s: %s", c.name, base, path, body)
					require.Contains(t, string(body), c.reason)
					require.Contains(t, string(body), c.does)
					for _, word := range c.never {
						require.NotContains(t, string(body), word, c.name)
					}
				}
			}
		}
		said, _, code := try(t, "vmsbridge", "status", "--config", s.yaml)
		require.NotZero(t, code, "%s: %s", c.name, said)
		require.Contains(t, said, "the journal refuses events", c.name)
		require.Contains(t, said, c.does, c.name)
		mend()
		for _, base := range []string{s.service, s.local} {
			until(t, 30*time.Second, "200 of "+base+" after "+c.name, func() bool {
				code, _, _ := get(t, base+"/readyz", "")
				return code == http.StatusOK
			})
			_, _, body := get(t, base+"/healthz", "")
			require.NotContains(t, string(body), c.reason, c.name)
		}
	}
	require.NoError(t, report(reporter))
	require.NoError(t, report(local))
	s.bridge.kill()
	s.cloud.kill()
	s.startCloud()
	s.startBridge()
	for c, base := range map[*client.Client]string{reporter: s.service, local: s.local} {
		for _, id := range acknowledged[c] {
			token := map[string]string{s.service: s.token, s.local: lanToken}[base]
			code, _, body := get(t, base+"/api/v3.0/events/"+id, token)
			require.Equal(t, http.StatusOK, code, "%s was acknowledged: %s", id, body)
		}
	}
	s.bridge.stop(10 * time.Second)
	s.requireSound(0)
}

// fill takes all room on the disk of a file, whoever makes some, until what it returns is called.
func fill(t *testing.T, path string) (stop func()) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	end := make(chan struct{})
	full := make(chan struct{})
	var filling sync.WaitGroup
	filling.Go(func() {
		once := sync.OnceFunc(func() { close(full) })
		for block := make([]byte, 64<<10); ; {
			if _, err := f.Write(block); err == nil {
				continue
			} else if !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			once()
			select {
			case <-end:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	<-full
	return func() {
		close(end)
		filling.Wait()
		require.NoError(t, f.Close())
		require.NoError(t, os.Remove(path))
	}
}
