package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
	"vmsbridge/uplink/webhook"
)

const sinksSecret = "0123456789abcdef-of-the-hook"

// order notes events in the order in which they first came.
type order struct {
	mu    sync.Mutex
	first []string
	seen  map[string]bool
}

func (o *order) note(ev vms.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := ev.ID + fmt.Sprint(ev.Ongoing())
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	if !o.seen[key] {
		o.seen[key] = true
		o.first = append(o.first, key)
	}
}

// has says whether all of these came, and in their order.
func (o *order) has(keys []string) (all, ordered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := -1
	all, ordered = true, true
	for _, k := range keys {
		i := slices.Index(o.first, k)
		all = all && i >= 0
		ordered = ordered && i > at
		at = i
	}
	return all, ordered
}

func (o *order) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.first)
}

// reporting reports events of one camera, one after the other, through the bridge's own interface,
// and remembers those that were taken.
type reporting struct {
	l      *load
	camera string
	taken  []string
}

func (p *reporting) put(ctx context.Context, kind string, at time.Time, ongoing bool) bool {
	ev := vms.Event{Type: kind, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at.Add(time.Second)), Span: true,
		AccountID: p.l.account, ActorID: p.camera,
		ActorAccountID: p.l.account, ActorType: vms.ActorCamera, CreatorID: "e2e.sinks"}
	if ongoing {
		ev.EndTimestamp = nil
	}
	ev.SetData(vms.CreatorDetails("e2e.sinks", vms.CreatorInfo{ID: "e2e.sinks", Vendor: "e2e"}))
	body, _ := json.Marshal(ev)
	code, _, _ := p.l.ask(ctx, http.MethodPost, "/api/v3.0/events", body)
	if code == http.StatusCreated {
		p.taken = append(p.taken, ev.NaturalID()+fmt.Sprint(ongoing))
	}
	return code == http.StatusCreated
}

// linesOf reads the lines that were written to files, one after the other. A line that was cut off
// by a kill is left out.
func linesOf(t *testing.T, paths ...string) *order {
	o := &order{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		for line := range strings.Lines(string(content)) {
			var ev vms.Event
			if json.Unmarshal([]byte(line), &ev) == nil {
				o.note(ev)
			}
		}
	}
	return o
}

// TestOtherSinksOfEvents kills the bridge again and again while its broker is dead, and a webhook
// is not. The hook and a file, which is rotated, get every event that the bridge has taken, soon;
// so does the broker, when it is back, in order; and the states that lie there are the present.
func TestOtherSinksOfEvents(t *testing.T) {
	t.Parallel()
	mosquitto, err := exec.LookPath("mosquitto")
	if err != nil {
		mosquitto = "/usr/sbin/mosquitto"
	}
	mosquitto = needProgram(t, mosquitto, "mosquitto")
	sub := needProgram(t, "mosquitto_sub", "mosquitto-clients")

	hooked := &order{}
	hook := startHook(t, func(_ string, ev vms.Event) { hooked.note(ev) })

	port, dead := harness.Port(t), harness.Port(t)
	cameras := cameraYAML("a", fmt.Sprintf("rtsp://127.0.0.1:%d/a", dead), "", "tcp", "", "") +
		cameraYAML("b", fmt.Sprintf("rtsp://127.0.0.1:%d/b", dead), "", "tcp", "", "")
	s := newSite(t, cameras, fmt.Sprintf("mqtt: {url: 'mqtt://127.0.0.1:%d'}", port),
		fmt.Sprintf("webhooks: [{id: hook, url: '%s', secret: %s, types: [tamper, motion]}]", hook.URL, sinksSecret),
		"file: {path: lines.jsonl}")
	lines := filepath.Join(s.dir, "lines.jsonl")
	conf := s.write("mosquitto.conf",
		fmt.Sprintf("listener %d 127.0.0.1\nallow_anonymous true\nuser root\nmax_queued_messages 0\npersistence "+
			"true\npersistence_location %s/\n", port, s.dir))
	listen := func(args ...string) *program {
		return start(t, sub, append([]string{"-h", "127.0.0.1", "-p", fmt.Sprint(port), "-q", "1", "-F", "%t %p"},
			args...)...)
	}
	broker := func() *program {
		p := start(t, mosquitto, "-c", conf, "-v")
		p.line("running", 10*time.Second)
		return p
	}
	lies := func(topic string) string { // what is retained
		out, _ := exec.Command(sub, "-h", "127.0.0.1", "-p", fmt.Sprint(port), "-t", topic, "-C", "1", "-W",
			"3").Output()
		return strings.TrimSpace(string(out))
	}
	const prefix = "vmsbridge/bridge-1/"
	b := broker()
	all := func() *program { return listen("-i", "all", "-c", "-t", prefix+"events") }
	heard := []*program{all()} // the broker keeps for it what comes while it is away
	s.startBridge()
	until(t, 20*time.Second, "the bridge at the broker", func() bool { return lies(prefix+"status") == "online" })

	l := &load{local: s.local, account: s.account}
	one, two := &reporting{l: l, camera: "a"}, &reporting{l: l, camera: "b"}
	began := time.Now().Add(-time.Minute)
	require.True(t, one.put(t.Context(), vms.TypeMotion, began, true))
	until(t, 20*time.Second, "motion at the broker", func() bool { return lies(prefix+"a/motion") == "ON" })
	s.bridge.kill()
	until(t, 20*time.Second, "the broker to say that the bridge is gone",
		func() bool { return lies(prefix+"status") == "offline" })
	heard[0].kill()
	require.NoError(t, b.cmd.Process.Signal(syscall.SIGTERM))
	until(t, 20*time.Second, "the broker's end", func() bool { return !b.running() })

	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer func() { stop(); writers.Wait() }()
	for _, p := range []*reporting{one, two} {
		writers.Go(func() {
			for n := 1; ctx.Err() == nil; n++ {
				if !p.put(ctx, vms.TypeTamper, began.Add(time.Duration(n)*10*time.Millisecond), false) {
					time.Sleep(20 * time.Millisecond) // it has just been killed
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 7))
	kills := 6
	if testing.Short() {
		kills = 2
	}
	for n := range kills {
		s.startBridge()
		s.bridge.pause(time.Duration(100+rng.IntN(900)) * time.Millisecond)
		s.bridge.kill()
		s.requireSound(n)
		if n == 0 {
			require.NoError(t, os.Rename(lines, lines+".1"), "a rotation, before the bridge is back")
		}
	}
	s.startBridge()
	until(t, 20*time.Second, "a line", func() bool { _, err := os.Stat(lines); return err == nil })
	require.NoError(t, os.Rename(lines, lines+".2"), "a rotation, while the bridge runs")
	stop()
	writers.Wait()
	require.True(t, one.put(t.Context(), vms.TypeMotion, began, false), "the motion ends while the broker is dead")
	until(t, 30*time.Second, "all at the hook", func() bool {
		a, _ := hooked.has(one.taken)
		b, _ := hooked.has(two.taken)
		return a && b
	})
	written := &order{}
	until(t, 30*time.Second, "all in the file", func() bool {
		written = linesOf(t, lines+".1", lines+".2", lines)
		a, _ := written.has(one.taken)
		b, _ := written.has(two.taken)
		return a && b
	})
	require.Contains(t, strings.Join(s.health().Problems, "\n"), "another sink of events")
	require.Contains(t, s.metrics(), `vmsbridge_home_up{home="webhook/hook"} 1`)
	require.Contains(t, s.metrics(), `vmsbridge_home_up{home="mqtt/127.0.0.1"} 0`)
	said, _, _ := try(t, "vmsbridge", "status", "--config", s.yaml)
	require.Regexp(t, `mqtt      127.0.0.1: the MQTT broker cannot be reached.*; [1-9]\d* waiting`, said)

	b = broker()
	heard = append(heard, all())
	brought := &order{}
	until(t, 60*time.Second, "all at the broker", func() bool {
		brought = &order{}
		for _, p := range heard {
			for line := range strings.Lines(p.output()) {
				var ev vms.Event
				if _, body, _ := strings.Cut(line, " "); json.Unmarshal([]byte(body), &ev) == nil {
					brought.note(ev)
				}
			}
		}
		a, _ := brought.has(one.taken)
		b, _ := brought.has(two.taken)
		return a && b
	})
	for name, o := range map[string]*order{"hook": hooked, "broker": brought, "file": written} {
		for _, p := range []*reporting{one, two} {
			_, ordered := o.has(p.taken)
			require.True(t, ordered, "the %s got the events of camera %s out of order", name, p.camera)
		}
	}
	require.Equal(t, "OFF", lies(prefix+"a/motion"), "no motion stays behind that has ended")
	require.Equal(t, "online", lies(prefix+"status"))
	require.Equal(t, "OFF", lies(prefix+"a/connectivity"))
	t.Logf("%d kills: %d and %d events taken; the hook had %d, the broker %d", kills, len(one.taken), len(two.taken),
		hooked.len(), brought.len())

	// The configuration changes while the bridge runs: another camera, and no hook any more.
	s.set("webhooks:", "# webhooks:")
	s.set("file: {", "# file: {")
	s.set("  - {id: \"b\"", "  - {id: \"c\"")
	require.NoError(t, s.bridge.cmd.Process.Signal(syscall.SIGHUP))
	until(t, 20*time.Second, "the new camera at the broker",
		func() bool { return lies(prefix+"c/motion") == "OFF" && lies(prefix+"b/motion") == "" })
	require.NotContains(t, s.metrics(), "webhook/hook")
	require.NotContains(t, s.metrics(), "file/lines.jsonl")
	s.bridge.stop(10 * time.Second)
	require.Equal(t, "offline", lies(prefix+"status"))
	s.requireSound(kills)
	_ = os.Remove(conf)
}

// startHook starts a webhook's receiver until the end of the test. took is told of each event that
// is signed with sinksSecret, with the path that it was posted to; what else comes is refused.
func startHook(t *testing.T, took func(path string, ev vms.Event)) *httptest.Server {
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var ev vms.Event
		if err != nil || webhook.Verify(sinksSecret, r.Header.Get(webhook.HeaderSignature), body, time.Now(),
			time.Minute) != nil || json.Unmarshal(body, &ev) != nil {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		took(r.URL.Path, ev)
	}))
	t.Cleanup(hook.Close)
	return hook
}

// TestWebhooksCarryPictures posts the motions of a camera to three receivers: as addresses for who
// has a token, as addresses that open without one, and with the picture in the event.
func TestWebhooksCarryPictures(t *testing.T) {
	t.Parallel()
	got := map[string]chan vms.Event{"none": make(chan vms.Event, 64), "link": make(chan vms.Event, 64),
		"inline": make(chan vms.Event, 64)}
	receiver := startHook(t, func(path string, ev vms.Event) {
		select {
		case got[path[1:]] <- ev:
		default: // enough came
		}
	})
	var hooks []string
	for _, image := range []string{"none", "link", "inline"} {
		hooks = append(hooks, fmt.Sprintf("{id: %s, url: '%s/%[1]s', secret: %[3]s, types: [motion], image: %[1]s}",
			image, receiver.URL, sinksSecret))
	}
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""),
		"webhooks: ["+strings.Join(hooks, ", ")+"]")
	s.startBridge()
	// picture is the address of the preview of the next motion.
	picture := func(hook string) (address string) {
		t.Helper()
		select {
		case ev := <-got[hook]:
			require.Equal(t, "gate", ev.ActorID)
			for _, d := range ev.Data {
				var frame struct{ HTTPSURL, FeedType string }
				if d.Type == vms.SchemaFullFrame && d.Into(&frame) == nil && frame.FeedType == vms.ImagePreview {
					return frame.HTTPSURL
				}
			}
			t.Fatalf("no picture in %v", ev)
		case <-time.After(stretched(90 * time.Second)):
			t.Fatal("no motion came to the hook ", hook)
		}
		return ""
	}
	code, _, body := get(t, picture("none"), "")
	require.Equal(t, http.StatusUnauthorized, code, "%s", body)
	link := picture("link")
	require.Contains(t, link, s.local+vms.PathImage)
	code, header, body := get(t, link, "")
	require.Equal(t, http.StatusOK, code, "%s", body)
	require.Equal(t, "image/jpeg", header.Get("Content-Type"))
	code, _, body = get(t, strings.Replace(link, "deviceId=gate", "deviceId=yard", 1), "")
	require.Equal(t, http.StatusUnauthorized, code, "%s", body)
	inline, ok := strings.CutPrefix(picture("inline"), "data:image/jpeg;base64,")
	require.True(t, ok)
	raw, err := base64.StdEncoding.DecodeString(inline)
	require.NoError(t, err)
	_, err = jpeg.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
}
