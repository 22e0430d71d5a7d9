package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/health"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
	"vmsbridge/scripts/harness"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// Secrets of the site below; none may be seen in its log.
const (
	cameraPassword = "pässwörd: with spaces"
	serviceToken1  = "service-token-0123456789"
	apiToken       = "local-api-token-0123456789"
)

// office is a service that takes everything and remembers the newest form of each event.
type office struct {
	mu         sync.Mutex
	registered vms.Registration
	events     map[string]vms.Event
	away       bool // it refuses all
}

func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	var ev vms.Event
	switch {
	case o.away:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Header.Get("Authorization") != "Bearer "+serviceToken1:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == tunnel.Path:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasSuffix(r.URL.Path, "bridges:register"):
		_ = json.Unmarshal(body, &o.registered)
		_, _ = w.Write([]byte(`{}`))
	case json.Unmarshal(body, &ev) != nil || len(vms.Check(ev)) > 0:
		w.WriteHeader(http.StatusBadRequest)
	default:
		ev.ID = ev.NaturalID()
		o.events[ev.ID] = ev
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(ev)
	}
}

// lockedBuffer takes the log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// site is a bridge with two cameras, and what is around it.
type site struct {
	t      *testing.T
	cfg    *configs.Config
	log    *lockedBuffer
	office *office
	base   string // of the local API, while it runs
	client *http.Client
}

// walk is the film that the cameras show: seven seconds in a loop, in which a person walks for two.
// It is drawn once.
var walk struct {
	sync.Mutex
	film clip.Film
}

func walkOf(t *testing.T) clip.Film {
	walk.Lock()
	defer walk.Unlock()
	if walk.film.Units == nil {
		whole := clip.Draw(t, "--scene", "person", "--seed", "0", "--size", "320x176", "--fps", "10", "--codec",
			"mjpeg", "--gop", "20")
		all := whole.Units
		whole.Units = slices.Concat(all[10:35], all[45:65], all[130:155])
		for i := range whole.Units {
			whole.Units[i].Shown = i
		}
		walk.film = whole
	}
	return walk.film
}

// newSite serves the walk as two cameras; faults are the flags of camsim that make them misbehave.
// stop ends the cameras and the service.
func newSite(t *testing.T, faults ...string) (s *site, stop func()) {
	film := filepath.Join(t.TempDir(), "film")
	walkOf(t).Write(t, film)
	urls, stopCameras := harness.Camera(t,
		append([]string{"--film", film, "--codec", "mjpeg", "--path", "/gate", "--path", "/yard", "--transport", "tcp",
			"--user", "viewer", "--password", cameraPassword, "--auth", "digest"}, faults...)...)
	o := &office{events: map[string]vms.Event{}}
	service := httptest.NewServer(o)
	yaml := fmt.Sprintf(`
bridge: {id: b, account: acc, data: %q}
service: {url: %q, token: %s}
api: {listen: "127.0.0.1:0", tokens: [{name: lan, token: %s}]}
stills: {max_size: 64MiB, segment_size: 4MiB}
clock: {wait: 0s}
cameras:
  - {id: gate, url: %q, username: viewer, password: %q, transport: tcp}
  - {id: yard, url: %q, preview_url: %q, username: viewer, password: %q, transport: tcp}
  - {id: attic, url: "rtsp://127.0.0.1:1/none", enabled: false}
`, filepath.Join(t.TempDir(), "data"), service.URL, serviceToken1, apiToken, urls[0], cameraPassword,
		urls[1], urls[1], cameraPassword)
	cfg, err := configs.Parse("test.yaml", []byte(yaml))
	require.NoError(t, err)
	return &site{t: t, cfg: cfg, log: &lockedBuffer{}, office: o,
			client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}, func() {
			stopCameras()
			service.Close()
		}
}

// run starts the bridge; meddle may change it before it runs. stop ends it, as a signal does.
func (s *site) run(meddle func(*Agent)) (a *Agent, stop func()) {
	a, err := New(s.cfg,
		Options{Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "1"})
	require.NoError(s.t, err)
	if meddle != nil {
		meddle(a)
	}
	ready := make(chan net.Addr, 1)
	a.opts.Ready = func(addr net.Addr) { ready <- addr }
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case addr := <-ready:
		s.base = "http://" + addr.String()
	case err := <-ended:
		require.NoError(s.t, err)
	case <-time.After(time.Minute):
		require.FailNow(s.t, "the bridge does not start", s.log.String())
	}
	return a, func() {
		cancel()
		select {
		case err := <-ended:
			require.NoError(s.t, err)
		case <-time.After(time.Minute):
			require.FailNow(s.t, "the bridge does not stop", s.log.String())
		}
		_, err := s.client.Get(s.base + "/healthz")
		require.Error(s.t, err, "the port is closed")
	}
}

// get asks the local API.
func (s *site) get(path, token string, q url.Values) (int, http.Header, []byte) {
	req, err := http.NewRequest(http.MethodGet, s.base+path+"?"+q.Encode(), nil)
	require.NoError(s.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := s.client.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, res.Header, body
}

// motions are the motion events of a camera as the local API lists them, oldest first.
func (s *site) motions(camera string) []vms.Event {
	code, _, body := s.get(vms.PathEvents, apiToken,
		url.Values{"actor": {"camera:" + camera}, "type__in": {vms.TypeMotion}, "include": {"data"},
			"startTimestamp__gte": {"2020-01-01T00:00:00.000Z"}, "startTimestamp__lte": {"2100-01-01T00:00:00.000Z"},
			"sort": {"+startTimestamp"}})
	require.Equal(s.t, http.StatusOK, code, "%s", body)
	var page vms.EventPage
	require.NoError(s.t, json.Unmarshal(body, &page))
	return page.Results
}

// eventually waits for what takes the scene a loop at most.
func (s *site) eventually(what string, f func() bool) {
	s.t.Helper()
	require.Eventually(s.t, f, 2*time.Minute, 20*time.Millisecond, what) // long, for a machine that is busy or emulated
}

// left are the events in the journal while no bridge runs.
func (s *site) left(change func(*journal.Journal)) map[string]vms.Event {
	j, err := journal.Open(filepath.Join(s.cfg.Bridge.Data, archive.JournalFile), journal.Options{})
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, j.Close()) }()
	if change != nil {
		change(j)
	}
	all := map[string]vms.Event{}
	page, err := j.List(vms.Query{PageSize: 1000}, nil)
	require.NoError(s.t, err)
	for _, ev := range page.Events {
		all[ev.ID] = ev
	}
	return all
}

func TestAgentFromCameraToServiceWithAPanicAStopAndARestart(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s, stop := newSite(t)

	// The first life: decoder processes, and a bug in the pipeline of the gate.
	s.cfg.Decode.Isolation = codec.OwnProcess
	broken := false
	a, stopBridge := s.run(func(a *Agent) {
		a.opts.pipeline = func(c configs.Camera, d pipeline.Deps) (*pipeline.Pipeline, error) {
			if c.ID == "gate" && !broken {
				broken = true
				return new(pipeline.Pipeline), nil // panics as soon as it runs
			}
			return pipeline.New(c, d)
		}
	})
	s.eventually("the gate's pipeline is started again", func() bool { return counter(t, a, "gate") == 1 })
	s.eventually("motion at both", func() bool { return len(s.motions("gate")) > 0 && len(s.motions("yard")) > 0 })
	require.EqualValues(t, 1, counter(t, a, "gate"))
	require.Zero(t, counter(t, a, "yard"), "one camera's panic costs the others nothing")
	s.eventually("both online", func() bool { return healthOf(a).Cameras == health.Count{Online: 2, Total: 2} })

	for _, camera := range []string{"gate", "yard"} {
		start := s.motions(camera)[0].StartTimestamp
		for _, kind := range []string{vms.ImagePreview, vms.ImageMain} {
			q := url.Values{"deviceId": {camera}, "type": {kind},
				"timestamp__lt": {vms.At(start.Add(500 * time.Millisecond)).String()}}
			s.eventually(camera+" "+kind, func() bool {
				code, _, body := s.get("/api/v3.0/media/recordedImage.jpeg", apiToken, q)
				if code != http.StatusOK {
					return false
				}
				w, h, err := codec.CheckJPEG(body)
				require.NoError(t, err)
				require.Equal(t, [2]int{320, 176}, [2]int{w, h})
				return true
			})
			code, _, _ := s.get("/api/v3.0/media/recordedImage.jpeg", "", q)
			require.Equal(t, http.StatusUnauthorized, code)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/api/v3.0/cameras": 401} {
		code, _, _ := s.get(path, "", nil)
		require.Equal(t, want, code, path)
	}
	s.eventually("what confines the decoders is told to everybody", func() bool {
		_, _, body := s.get("/healthz", "", nil)
		return strings.Contains(string(body), `"confinement":{"inForce":["`)
	})
	code, _, body := s.get("/api/v3.0/cameras", apiToken, url.Values{"include": {"status"}})
	require.Equal(t, http.StatusOK, code)
	require.Regexp(t, `(?s)"attic".*"off".*"gate".*"online".*"yard".*"online"`, string(body), "by id, with their states")
	stopBridge()

	// After the stop nothing goes on, and the service has everything.
	all := s.left(nil)
	for id, ev := range all {
		require.NotNil(t, ev.EndTimestamp, "%s goes on", id)
		require.False(t, ev.EndTimestamp.Before(ev.StartTimestamp.Time), id)
	}
	s.office.mu.Lock()
	require.Len(t, s.office.events, len(all), "every event, once")
	for id, ev := range all {
		require.Equal(t, ev.EndTimestamp, s.office.events[id].EndTimestamp, id)
	}
	require.Len(t, s.office.registered.Cameras, 3)
	s.office.mu.Unlock()

	// A crash leaves a span open; the second life, without decoder processes, ends it where it was
	// last seen.
	cut := vms.Event{Type: vms.TypeMotion, ActorID: "yard", ActorType: vms.ActorCamera, AccountID: "acc",
		ActorAccountID: "acc", Span: true,
		CreatorID: vms.CreatorMotion, StartTimestamp: vms.At(time.Now().Add(-time.Minute))}
	cut.SetData(vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: vms.CreatorMotion}))
	cut.ID = cut.NaturalID()
	last := cut.StartTimestamp.Add(20 * time.Second)
	s.left(func(j *journal.Journal) {
		require.NoError(t, j.Put(cut, true))
		require.NoError(t, j.TouchAll(map[string]time.Time{cut.ID: last}))
	})
	s.cfg.Decode.Isolation = codec.InProcess
	_, stopBridge = s.run(nil)
	s.eventually("the service knows the end", func() bool {
		s.office.mu.Lock()
		defer s.office.mu.Unlock()
		ev, ok := s.office.events[cut.ID]
		return ok && ev.EndTimestamp != nil && ev.EndTimestamp.Equal(last)
	})
	n := len(s.motions("gate"))
	s.eventually("motion again", func() bool { return len(s.motions("gate")) > n })
	stopBridge() // in the middle of a span
	for id, ev := range s.left(nil) {
		require.NotNil(t, ev.EndTimestamp, "%s goes on", id)
	}

	stop()
	for _, secret := range []string{cameraPassword, url.QueryEscape(cameraPassword), url.PathEscape(cameraPassword),
		serviceToken1, apiToken, a.visitor} {
		require.NotContains(t, s.log.String(), secret)
	}
	goleak.VerifyNone(t, before)
}

// counter is how often the camera's pipeline was started again.
func counter(t *testing.T, a *Agent, camera string) float64 {
	families, err := a.reg.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "vmsbridge_agent_pipeline_restarts_total" && m.GetLabel()[0].GetValue() == camera {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestAgentThatCannotStartSaysWhyAndLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	cfg := configs.Default()
	cfg.API.Listen = "127.0.0.1:0"
	run := func(want string) {
		a, err := New(cfg, Options{Registry: prometheus.NewRegistry()})
		require.NoError(t, err)
		require.ErrorContains(t, a.Run(t.Context()), want)
	}
	cfg.Bridge.Data = filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(cfg.Bridge.Data, nil, 0o600))
	run("bridge.data")
	cfg.Bridge.Data = t.TempDir()
	cfg.API.TLS = configs.TLS{Cert: "no-such-cert", Key: "no-such-key"}
	run("api.tls")
	cfg.API.TLS = configs.TLS{}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	cfg.API.Listen = taken.Addr().String()
	run("api.listen")
	goleak.VerifyNone(t, before)
}

func TestABridgeWithoutServiceAndTokensRunsAndStops(t *testing.T) {
	before := goleak.IgnoreCurrent()
	cfg := configs.Default()
	cfg.API.Listen, cfg.Bridge.Data, cfg.Clock.Wait = "127.0.0.1:0", t.TempDir(), 0
	s := &site{t: t, cfg: cfg, log: &lockedBuffer{},
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	_, stop := s.run(nil)
	code, _, body := s.get("/healthz", "", nil)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, string(body), `"status":"ok"`)
	code, _, _ = s.get("/api/v3.0/cameras", apiToken, nil)
	require.Equal(t, http.StatusUnauthorized, code)
	stop()
	goleak.VerifyNone(t, before)
}

// healthOf is what the health checks say.
func healthOf(a *Agent) health.Summary {
	r := a.Status()
	return r.Summary()
}
