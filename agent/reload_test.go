package agent

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/control"
	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// tap stands between the bridge and a camera and counts connections.
type tap struct {
	net.Listener
	conns atomic.Int64
	wait  sync.WaitGroup
}

// tapped is the address of a stream through a tap.
func tapped(t *testing.T, stream string) (*tap, string) {
	t.Helper()
	u, err := url.Parse(stream)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &tap{Listener: l}
	target := u.Host
	p.wait.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			p.conns.Add(1)
			p.wait.Go(func() {
				out, err := net.Dial("tcp", target)
				if err != nil {
					_ = in.Close()
					return
				}
				p.wait.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
				_, _ = io.Copy(in, out)
				_ = in.Close()
			})
		}
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *tap) stop() { _ = p.Close(); p.wait.Wait() }

// editable is a site whose configuration is edited while it runs.
type editable struct {
	*site
	mu   sync.Mutex
	text string // of the file
}

func (e *editable) write(text string) { e.mu.Lock(); e.text = text; e.mu.Unlock() }

func (e *editable) load() (*configs.Config, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return configs.Parse("bridge.yaml", []byte(e.text))
}

// ask asks through the control socket.
func (e *editable) ask(method, path string, v any) {
	e.t.Helper()
	req, err := http.NewRequest(method, control.URL+path, nil)
	require.NoError(e.t, err)
	res, err := control.Client(e.cfg.Bridge.Data).Do(req)
	require.NoError(e.t, err)
	defer res.Body.Close()
	require.Equal(e.t, http.StatusOK, res.StatusCode)
	require.NoError(e.t, json.NewDecoder(res.Body).Decode(v))
}

func (e *editable) reload() (done Reloaded) { e.ask("POST", "/reload", &done); return done }
func (e *editable) status() (r health.Report) {
	e.ask("GET", "/status", &r)
	return r
}

// Only cameras whose section changed are touched: the others' sessions and pictures go on without a
// gap. A bad edit changes nothing and is told until a good one is read; what needs a restart is
// named.
func TestReload(t *testing.T) {
	before := goleak.IgnoreCurrent()
	plain, stop := newSite(t)
	gate, gateURL := tapped(t, plain.cfg.Cameras[0].URL)
	yard, yardURL := tapped(t, plain.cfg.Cameras[1].URL)
	s := &editable{site: plain}
	camera := func(id, address, more string) string {
		return "  - {id: " + id + ", url: \"" + address + "\", username: viewer, password: \"" + cameraPassword +
			"\", transport: tcp" + more + "}\n"
	}
	head := func(more string) string {
		return "bridge: {id: b, account: acc, data: \"" + plain.cfg.Bridge.Data +
			"\"}\napi: {listen: \"127.0.0.1:0\", tokens: [{name: lan, token: " + apiToken + "}]}\n" +
			"service: {url: \"" + plain.cfg.Service.URL + "\", token: " + serviceToken1 +
			"}\nstills: {max_size: 64MiB, segment_size: 4MiB, preview_interval: 100ms}\ndecode: {isolation: " +
			"none}\nclock: {wait: 0s}\n" + more + "cameras:\n"
	}
	s.write(head("") + camera("gate", gateURL, "") + camera("yard", yardURL, ""))
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	level := &slog.LevelVar{}
	a, stopBridge := s.run(func(a *Agent) { a.opts.Load, a.opts.Level = s.load, level })
	online := func(ids ...string) {
		t.Helper()
		s.eventually("online: "+strings.Join(ids, " "), func() bool {
			n := 0
			for _, c := range s.status().Cameras {
				if c.Online {
					n++
				}
			}
			return n == len(ids)
		})
	}
	fresh := func(id string) time.Time { at, _ := a.archive.Ring.Newest(id, stills.Preview); return at }
	online("gate", "yard")
	s.eventually("stills of the gate", func() bool { return !fresh("gate").IsZero() })
	began := fresh("gate")
	posts := a.cameras.Workers()

	// Nothing changed: nothing happens.
	require.Equal(t, Reloaded{Problems: []string{}, Applied: []string{}, Restart: []string{}, Warnings: []string{}},
		s.reload())
	require.Equal(t, posts, a.cameras.Workers())

	// One is changed, one is added; a default that only one of them inherits touches only that one.
	s.write(head("motion: {rate: 5}\n") + camera("gate", gateURL, ", motion: {rate: 10}") +
		camera("yard", yardURL, ", name: Yard") + camera("attic", yardURL, ""))
	done := s.reload()
	require.Equal(t, []string{"attic"}, done.Cameras.Added)
	require.Equal(t, []string{"yard"}, done.Cameras.Restarted)
	require.Empty(t, done.Cameras.Removed)
	require.Equal(t, []string{"motion.rate"}, done.Applied)
	online("gate", "yard", "attic")
	require.EqualValues(t, 3, yard.conns.Load(), "yard anew, and attic")
	s.eventually("the service knows of the new camera", func() bool {
		s.office.mu.Lock()
		defer s.office.mu.Unlock()
		return len(s.office.registered.Cameras) == 3
	})

	// A bad edit.
	good := head("") + camera("gate", gateURL, "")
	s.write(good + camera("yard", "http://x/", ", transpotr: tcp"))
	posts = a.cameras.Workers()
	for range 2 {
		done = s.reload()
		require.Len(t, done.Problems, 2)
		require.Contains(t, done.Problems[1], `did you mean "transport"?`)
	}
	require.Equal(t, posts, a.cameras.Workers())
	code, _, body := s.get("/healthz", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, string(body), `"configuration"`)
	require.NotContains(t, string(body), "yard", "the health checks need no token")
	require.Contains(t, s.log.String(), "the configuration was not read anew")
	require.EqualValues(t, 0, gauge(t, a, "vmsbridge_agent_config_last_reload_successful"))
	bad := s.status()
	require.True(t, bad.Has(health.Configuration))
	told := func() (list []vms.Event) {
		_, _, body := s.get(vms.PathEvents, apiToken,
			url.Values{"actor": {"bridge:b"}, "type__in": {health.TypeOperation}, "include": {"data"},
				"startTimestamp__gte": {"2020-01-01T00:00:00.000Z"},
				"startTimestamp__lte": {"2100-01-01T00:00:00.000Z"}})
		var page vms.EventPage
		require.NoError(t, json.Unmarshal(body, &page))
		return page.Results
	}
	s.eventually("the event", func() bool { return len(told()) == 1 })
	require.Nil(t, told()[0].EndTimestamp, "it lasts")
	require.Empty(t, vms.Check(told()[0]), "a service takes it")

	// The next good one clears it; one camera goes; what needs a restart is named, and the rest
	// holds.
	s.write(strings.NewReplacer("max_size: 64MiB", "max_size: 128MiB", "name: lan, token: "+apiToken,
		"name: lan, token: another-"+apiToken).Replace(head("log: {level: debug}\n")) +
		camera("gate", gateURL, ", motion: {rate: 10}"))
	done = s.reload()
	require.Empty(t, done.Problems)
	require.ElementsMatch(t, []string{"yard", "attic"}, done.Cameras.Removed)
	require.Empty(t, done.Cameras.Restarted)
	require.Equal(t, []string{"api.tokens", "log.level", "motion.rate"}, done.Applied)
	require.Equal(t, []string{"stills.max_size"}, done.Restart)
	require.Equal(t, slog.LevelDebug, level.Level())
	code, _, _ = s.get("/api/v3.0/cameras", apiToken, nil)
	require.Equal(t, http.StatusUnauthorized, code, "the old token is no good")
	code, _, body = s.get("/api/v3.0/cameras", "another-"+apiToken, nil)
	require.Equal(t, http.StatusOK, code)
	require.NotContains(t, string(body), "yard")
	require.EqualValues(t, 1, gauge(t, a, "vmsbridge_agent_config_last_reload_successful"))
	require.EqualValues(t, 1, gauge(t, a, "vmsbridge_agent_config_restart_needed"))
	r := s.status()
	require.False(t, r.Has(health.Configuration))
	require.True(t, r.Has(health.Restart))
	require.Equal(t, []string{"stills.max_size"}, r.Config.Restart)
	require.NotContains(t, metricsOf(t, a), `camera="yard"`, "a camera that is gone has no series")

	// All the while the gate was not disturbed.
	now := time.Now()
	s.eventually("stills of the gate go on", func() bool { return fresh("gate").After(now) })
	require.EqualValues(t, 1, gate.conns.Load(), "the session of the camera that did not change")
	frames, _, err := a.archive.Ring.Range("gate", stills.Preview, began, time.Now(), 10_000)
	require.NoError(t, err)
	for i := 1; i < len(frames); i++ {
		require.Less(t, frames[i].Time.Sub(frames[i-1].Time), time.Second, "a gap in the gate's pictures")
	}
	stopBridge()
	ended := 0
	for _, ev := range s.left(nil) {
		require.NotNil(t, ev.EndTimestamp, ev.ID)
		if ev.Type == health.TypeOperation {
			ended++
		}
	}
	require.Equal(t, 1, ended, "the bad edit is one event, and has ended")
	gate.stop()
	yard.stop()
	stop()
	require.NotContains(t, s.log.String(), cameraPassword)
	goleak.VerifyNone(t, before)
}

// A new token for the service is used at once, and what waits goes out with it.
func TestReloadOfTheServicesToken(t *testing.T) {
	plain, stop := newSite(t)
	defer stop()
	s := &editable{site: plain}
	text := "bridge: {id: b, account: acc, data: \"" + filepath.Join(t.TempDir(), "d") +
		"\"}\napi: {listen: \"127.0.0.1:0\"}\nservice: {url: \"" + plain.cfg.Service.URL + "\", token: TOKEN}\n"
	s.write(strings.ReplaceAll(text, "TOKEN", "wrong-token-0123456789"))
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	_, stopBridge := s.run(func(a *Agent) { a.opts.Load = s.load })
	defer stopBridge()
	s.eventually("it is refused", func() bool { r := s.status(); return r.Has(health.SignIn) })
	s.write(strings.ReplaceAll(text, "TOKEN", serviceToken1))
	require.Equal(t, []string{"service.token"}, s.reload().Applied)
	s.eventually("it is let in", func() bool {
		r := s.status()
		return !r.Has(health.SignIn) &&
			!r.Has(health.Service)
	})
	s.write(strings.ReplaceAll(strings.ReplaceAll(text, "TOKEN", serviceToken1), plain.cfg.Service.URL,
		"http://127.0.0.1:1"))
	require.Equal(t, []string{"service.url"}, s.reload().Restart,
		"events name the service's address in those of their images")
}

// gauge is the value of a metric without labels.
func gauge(t *testing.T, a *Agent, name string) float64 {
	t.Helper()
	families, err := a.reg.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// metricsOf are the metrics as text, enough to search in.
func metricsOf(t *testing.T, a *Agent) string {
	t.Helper()
	families, err := a.reg.Gather()
	require.NoError(t, err)
	var b strings.Builder
	for _, f := range families {
		for _, m := range f.GetMetric() {
			b.WriteString(f.GetName())
			for _, l := range m.GetLabel() {
				b.WriteString(" " + l.GetName() + `="` + l.GetValue() + `"`)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
