package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
	"vmsbridge/uplink/webhook"
)

// followed is a stream that is read in the background.
type followed struct {
	events chan vms.Event
	mu     sync.Mutex // guards last
	last   string
}

// listen opens a stream, behind a message if last is not "".
func (c *cloud) listen(token, path, last string) *followed {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), "GET", c.p.base+path, nil)
	require.NoError(c.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	require.Equal(c.t, 200, res.StatusCode)
	f := &followed{events: make(chan vms.Event, 100)}
	go func() {
		defer close(f.events)
		defer res.Body.Close()
		id := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			switch kind, text, _ := strings.Cut(lines.Text(), ": "); kind {
			case "id":
				id = text
			case "data":
				var ev vms.Event
				if json.Unmarshal([]byte(text), &ev) == nil {
					f.mu.Lock()
					f.last = id
					f.mu.Unlock()
					f.events <- ev
				}
			}
		}
	}()
	return f
}

func (f *followed) next(t *testing.T) string {
	t.Helper()
	select {
	case ev, ok := <-f.events:
		require.True(t, ok, "the stream has ended")
		return ev.ID
	case <-time.After(time.Minute):
		t.Fatal("nothing is heard")
		return ""
	}
}

func (f *followed) lastID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// restart ends the service, lets something happen, and starts it again.
func (c *cloud) restart(args ...string) {
	c.t.Helper()
	require.Zero(c.t, c.p.stop())
	c.start(args...)
}

func (c *cloud) report(account string, n int) string {
	c.t.Helper()
	ev := motion(c.accounts[account], "cam-"+account, n)
	require.NoError(c.t, clientOf(c.t, c.p.base, c.bridges[account]).Report(c.t.Context(), ev))
	return ev.ID
}

// A subscription outlasts a restart of the service with its filters, and its stream goes on behind
// the last message that came: what was stored while nobody read, before and after the restart,
// comes once and in order.
func TestAStreamGoesOnAfterARestart(t *testing.T) { inBoth(t, streamOverARestart) }

func streamOverARestart(t *testing.T, c *cloud) {
	token := c.must("token", "create", "--kind", "user", "--account", c.accounts["a"], "--quiet")
	code, made := c.api(token, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"}}`)
	require.Equal(t, 201, code, made)
	var sub struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(made), &sub))
	path := "/api/v3.0/eventSubscriptions/" + sub.ID
	code, body := c.api(token, "POST", path+"/filters", `{"actors":["camera:cam-a"],"types":["vms.motionDetectionEvent.v1"]}`)
	require.Equal(t, 201, code, body)

	s := c.listen(token, path+"/stream", "")
	first := c.report("a", 1)
	require.Equal(t, first, s.next(t))
	last := s.lastID()
	second, third := c.report("a", 2), c.report("a", 3)
	require.Equal(t, second, s.next(t))
	require.Equal(t, third, s.next(t))
	c.restart()
	c.report("b", 4) // of nobody's concern
	fourth := c.report("a", 5)
	s = c.listen(token, path+"/stream", last)
	for _, want := range []string{second, third, fourth} {
		require.Equal(t, want, s.next(t))
	}
	fifth := c.report("a", 6)
	require.Equal(t, fifth, s.next(t))
	// Without that header it begins now; and what is deleted is gone after the next restart as
	// well.
	fresh := c.listen(token, path+"/stream", "")
	sixth := c.report("a", 7)
	require.Equal(t, sixth, fresh.next(t))
	code, _ = c.api(token, "DELETE", path, "")
	require.Equal(t, 204, code)
	c.restart()
	code, _ = c.api(token, "GET", path, "")
	require.Equal(t, 404, code)
}

// target is somebody's server that gets events. It agrees to get them, checks their signatures, and
// refuses while it is down.
type target struct {
	*httptest.Server
	mu     sync.Mutex // guards what follows
	agrees bool
	down   bool
	secret string
	got    []string
	bad    []string
}

func newTarget(t *testing.T) *target {
	x := &target{agrees: true}
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Close)
	return x
}

func (x *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.Method == http.MethodGet {
		if x.agrees {
			_, _ = io.WriteString(w, r.URL.Query().Get("token"))
		}
		return
	}
	body, _ := io.ReadAll(r.Body)
	if x.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if err := webhook.Verify(x.secret, r.Header.Get(webhook.HeaderSignature), body, time.Now(),
		time.Minute); err != nil {
		x.bad = append(x.bad, err.Error())
	}
	var ev vms.Event
	if json.Unmarshal(body, &ev) == nil {
		x.got = append(x.got, ev.ID)
	}
}

func (x *target) set(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
}

func (x *target) has(t *testing.T, want ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.got) >= len(want)
	}, time.Minute, 50*time.Millisecond, "%v", want)
	x.mu.Lock()
	defer x.mu.Unlock()
	require.Equal(t, want, x.got)
	require.Empty(t, x.bad)
}

// Events go to an address of a subscriber's choice, signed, if the operator allows it and whoever
// answers there agrees: those that the subscriber may see, each once, also over an outage of the
// target with a restart of the service in it.
func TestWebhookOfASubscription(t *testing.T) { inBoth(t, webhookOverARestart, webhookAllowed...) }

var webhookAllowed = []string{"--webhook-target", "127.0.0.1"}

func webhookOverARestart(t *testing.T, c *cloud) {
	x := newTarget(t)
	token := c.must("token", "create", "--kind", "user", "--account", c.accounts["a"], "--quiet")
	other := c.must("token", "create", "--kind", "user", "--account", c.accounts["b"], "--quiet")
	ask := func(address string) (int, string) {
		return c.api(token, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"webhook.v1","webhookUrl":"`+address+
			`","technicalContactEmail":"ops@example.org","technicalContactName":"Ops"},"filters":[{"actors":[],"types":["vms.motionDetectionEvent.v1"]}]}`)
	}
	for address, words := range map[string]string{
		"":                                 "Missing required arguments: deliveryConfig.webhookUrl",
		"ftp://127.0.0.1/":                 "must look like https://host/path",
		"http://user:pw@127.0.0.1/":        "without a user's name",
		"http://10.1.2.3/":                 "--webhook-target HOST",
		"http://169.254.169.254/latest":    "--webhook-target HOST",
		"http://localhost.invalid/":        "cannot be reached",
		"http://127.0.0.1:1/":              "cannot be reached",
		c.p.base + "/healthz":              "does not agree",
		x.URL + "/%%%":                     "must look like",
		"http://[::ffff:169.254.169.254]/": "--webhook-target HOST",
	} {
		code, body := ask(address)
		require.Equal(t, 400, code, "%s: %s", address, body)
		require.Contains(t, body, words, address)
	}
	x.set(func() { x.agrees = false })
	code, body := ask(x.URL + "/in")
	require.Equal(t, 400, code)
	require.Contains(t, body, "does not agree")
	x.set(func() { x.agrees = true })

	code, body = ask(x.URL + "/in?of=a")
	require.Equal(t, 201, code, body)
	var sub struct {
		ID       string
		Config   map[string]any    `json:"subscriptionConfig"`
		Delivery map[string]string `json:"deliveryConfig"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sub))
	require.Equal(t, map[string]any{"lifeCycle": "persistent"}, sub.Config)
	require.NotEmpty(t, sub.Delivery["secret"])
	x.set(func() { x.secret = sub.Delivery["secret"] })
	path := "/api/v3.0/eventSubscriptions/" + sub.ID
	code, body = c.api(token, "GET", path, "")
	require.Equal(t, 200, code)
	require.NotContains(t, body, sub.Delivery["secret"], "it is told once")
	code, _ = c.api(other, "GET", path, "")
	require.Equal(t, 404, code, "another's")
	code, _ = c.api(token, "GET", path+"/stream", "")
	require.Equal(t, 404, code)

	want := []string{c.report("a", 1)}
	c.report("b", 1) // another account's
	want = append(want, c.report("a", 2))
	x.has(t, want...)
	x.set(func() { x.down = true })
	want = append(want, c.report("a", 3))
	c.restart(webhookAllowed...)
	want = append(want, c.report("a", 4))
	x.set(func() { x.down = false })
	x.has(t, want...)

	// What is deleted is over.
	code, _ = c.api(token, "DELETE", path, "")
	require.Equal(t, 204, code)
	c.report("a", 5)
	c.restart(webhookAllowed...)
	c.report("a", 6)
	code, body = ask(x.URL + "/in") // its first event comes after those, had they been sent
	require.Equal(t, 201, code, body)
	require.NoError(t, json.Unmarshal([]byte(body), &sub))
	x.set(func() { x.secret = sub.Delivery["secret"] })
	want = append(want, c.report("a", 7))
	x.has(t, want...)
	require.Zero(t, c.p.stop())
	require.NotContains(t, c.p.logged(), x.secret)
	require.NotContains(t, c.p.logged(), "/in?of=a")
}

// A named host is reached wherever its name leads, but never where no target can be; others only in
// the ranges named.
func TestTargets(t *testing.T) {
	x, err := newTargets([]string{"Hooks.Example.org.", "localhost", "10.0.0.0/8", "192.0.2.7"})
	require.NoError(t, err)
	require.True(t, x.has("hooks.example.ORG"))
	require.False(t, x.has("example.org"))
	require.NoError(t, x.ranges.allows(netip.MustParseAddr("10.1.2.3")))
	require.NoError(t, x.ranges.allows(netip.MustParseAddr("192.0.2.7")))
	require.Error(t, x.ranges.allows(netip.MustParseAddr("192.0.2.8")))
	for _, bad := range []string{"", "https://x.example", "x.example:80", "*.example.org", "10.0.0.0/99"} {
		_, err := newTargets([]string{bad})
		require.ErrorContains(t, err, "--webhook-target", bad)
	}
	s := newTarget(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	conn, err := x.dial(t.Context(), "tcp", "localhost"+port)
	require.NoError(t, err, "by its name")
	require.NoError(t, conn.Close())
	_, err = x.dial(t.Context(), "tcp", "127.0.0.1"+port)
	require.ErrorIs(t, err, errTarget)
	never, err := newTargets([]string{"metadata.example"})
	require.NoError(t, err)
	never.names = append(never.names, "169.254.169.254") // as if a name led there
	_, err = never.dial(t.Context(), "tcp", "169.254.169.254:80")
	require.ErrorIs(t, err, errTarget)
}
