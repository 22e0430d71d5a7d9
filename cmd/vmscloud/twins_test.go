package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// twins are the accounts a and b of a cloud, each with a bridge "bridge", the cameras "gate" and
// "yard", and one event of its gate at the same time: nothing but the account tells them apart.
func twins(t *testing.T, args ...string) *cloud {
	c := newCloud(t, args...)
	for _, name := range []string{"a", "b"} {
		b := clientOf(t, c.p.base, c.bridges[name])
		require.NoError(t, b.Register(t.Context(), twin(name)), "no account is told what others have")
		require.NoError(t, b.Report(t.Context(), twinEvent(c, name, 0)))
	}
	return c
}

func twin(name string) vms.Registration {
	return vms.Registration{ID: "bridge", Name: "Bridge of " + name, ImageToken: "im4ge-t0ken",
		Cameras: []vms.RegisteredCamera{{ID: "gate", Name: "Gate of " + name},
			{ID: "yard", Name: "Yard of " + name}}}
}

// twinEvent names its account in its data, and the address of an image as its bridge knows it.
func twinEvent(c *cloud, name string, second int) vms.Event {
	ev := motion(c.accounts[name], "gate", second)
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "bridge", Vendor: "vendor of " + name}),
		vms.FullFrameImageURL(vms.CreatorMotion, vms.ImageURL("http://h", "gate", vms.ImagePreview, vms.OpBefore,
			began), began, vms.ImagePreview))
	return ev
}

// tunnelOf keeps the tunnel of an account's bridge, which answers images that name the account.
func (c *cloud) tunnelOf(name string) {
	c.t.Helper()
	d, err := tunnel.New(tunnel.Options{URL: c.p.base, Bridge: "bridge", Token: func(context.Context) (string, error) {
		return c.bridges[name], nil
	},
		MinPause: 5 * time.Millisecond, MaxPause: 20 * time.Millisecond,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Vms-Timestamp", vms.At(began).String())
			_, _ = w.Write([]byte("\xff\xd8\xff still of " + name + " " + r.Header.Get(vms.HeaderCamera)))
		})})
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = d.Run(ctx) }()
	c.t.Cleanup(func() { cancel(); <-done })
	require.Eventually(c.t, d.Up, time.Minute, time.Millisecond)
}

// follow is what a token hears of an actor's motion from now on. Other events are not asked for:
// the one of the camera's registration may come only now.
func (c *cloud) follow(token, actor string) <-chan vms.Event {
	c.t.Helper()
	code, made := c.api(token, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["`+
		actor+`"],"types":["`+vms.TypeMotion+`"]}]}`)
	require.Equal(c.t, 201, code, made)
	var sub struct {
		Delivery struct {
			URL string `json:"sseUrl"`
		} `json:"deliveryConfig"`
	}
	require.NoError(c.t, json.Unmarshal([]byte(made), &sub))
	r, err := http.NewRequestWithContext(c.t.Context(), "GET", sub.Delivery.URL, nil)
	require.NoError(c.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	require.Equal(c.t, 200, res.StatusCode)
	c.t.Cleanup(func() { _ = res.Body.Close() })
	heard := make(chan vms.Event, 100)
	go func() {
		defer close(heard)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var ev vms.Event
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(text), &ev) == nil {
				heard <- ev
			}
		}
	}()
	return heard
}

func hear(t *testing.T, heard <-chan vms.Event) string {
	t.Helper()
	select {
	case ev, ok := <-heard:
		require.True(t, ok, "the stream has ended")
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		return string(raw)
	case <-time.After(time.Minute):
		t.Fatal("nothing is heard")
		return ""
	}
}

// Each of two accounts with the same ids sees its own alone, by every way; a share is of the
// account that shares it; and one that is deleted takes nothing of the other along.
func TestTwoAccountsWithTheSameIDs(t *testing.T) {
	t.Parallel()
	c := twins(t)
	other := map[string]string{"a": "b", "b": "a"}
	user := map[string]string{"a": c.bearer("asu@a.org"), "b": c.bearer("asu@b.org")}
	heard := map[string]<-chan vms.Event{}
	for name := range other {
		c.tunnelOf(name)
		heard[name] = c.follow(user[name], "camera:gate")
	}
	event := "events/" + url.PathEscape(motion("", "gate", 0).ID)
	asks := map[string]string{ // path → what the answer says of its account
		"cameras": "Gate of %s", "cameras/gate": "Gate of %s", "cameras/yard?include=status": "Yard of %s", event +
			"?include=data.vms.creatorDetails.v1": "vendor of %s",
		"events?actor=camera:gate&include=data.vms.creatorDetails.v1" +
			window: "vendor of %s",
		"events:listRecentByType?actor=camera:gate&type__in=" + vms.TypeMotion +
			"&include=data.vms.creatorDetails.v1": "vendor of %s",
		"media/recordedImage.jpeg?deviceId=gate&type=preview&timestamp__lt=2027-01-01T00:00:00Z": "still of %s gate",
	}
	check := func(name string) {
		t.Helper()
		for _, token := range []string{user[name], c.bridges[name]} {
			for path, says := range asks {
				code, body := c.api(token, "GET", "/api/v3.0/"+path, "")
				require.Equal(t, 200, code, "%s: %s", path, body)
				require.Contains(t, body, fmt.Sprintf(says, name), path)
				require.NotContains(t, body, "of "+other[name], path)
				require.NotContains(t, body, c.accounts[other[name]], path)
			}
		}
		_, list := c.api(user[name], "GET", "/api/v3.0/events?actor=camera:gate"+window, "")
		require.Contains(t, list, `"totalSize":1`)
		_, _, res := c.as("asu@"+name+".org", "GET", "/g/device?id=gate", nil)
		require.Equal(t, 200, res.StatusCode)
	}
	check("a")
	check("b")
	_, devices := c.api("", "GET", "/g/device/list?A="+url.QueryEscape(c.sessions["asu@a.org"]), "")
	require.Contains(t, devices, "Gate of a")
	require.NotContains(t, devices, "of b")

	for _, name := range []string{"b", "a"} { // the end of one is not the end of the other's
		ended := twinEvent(c, name, 0)
		ended.EndTimestamp = vms.Ptr(ended.StartTimestamp.Add(time.Second))
		require.NoError(t, clientOf(t, c.p.base, c.bridges[name]).Report(t.Context(), ended))
		told := hear(t, heard[name])
		require.Contains(t, told, "vendor of "+name, "the first that either hears is its own")
		_, body := c.api(user[other[name]], "GET", "/api/v3.0/"+event, "")
		require.Equal(t, name == "b", strings.Contains(body, `"endTimestamp":null`), body)
	}

	// a shares its gate with b's superuser, who has one too: that stays b's, and a's is known by
	// another id.
	code, out, _ := c.as("asu@a.org", "POST", "/g/account",
		map[string]any{"id": c.accounts["a"], "camera_shares": [][]string{{"M", "gate", "asu@b.org"}},
			"camera_share_perms": map[string]any{}})
	require.Equal(t, 200, code, "%v", out)
	check2 := func(id, name string) {
		t.Helper()
		for path, says := range asks {
			path = strings.ReplaceAll(strings.ReplaceAll(path, "gate", url.QueryEscape(id)), "yard",
				url.QueryEscape(id))
			says = strings.Replace(says, "Yard", "Gate", 1)
			code, body := c.api(user["b"], "GET", "/api/v3.0/"+path, "")
			require.Equal(t, 200, code, "%s: %s", path, body)
			require.Contains(t, body, fmt.Sprintf(says, name), path)
		}
	}
	shared := "gate@" + c.accounts["a"]
	check2("gate", "b")
	check2(shared, "a")
	code, body := c.api(user["b"], "GET",
		"/api/v3.0/events?include=data.vms.fullFrameImageUrl.v1&actor__in=camera:gate,camera:"+url.QueryEscape(
			shared)+window, "")
	require.Equal(t, 200, code)
	require.Contains(t, body, `"totalSize":2`)
	for _, own := range []string{`"actorId":"gate"`, `"actorId":"` + shared + `"`, `"id":"` + shared + "-2026", "deviceId=gate\\u0026", "deviceId=" + url.QueryEscape(shared) + "\\u0026"} {
		require.Contains(t, body, own, "each event leads to its own camera")
	}
	for _, path := range []string{"cameras/yard" + shared[4:], "events?actor=camera:yard" + shared[4:] + window,
		"events?actor=bridge:bridge" + shared[4:] + window} {
		code, _ := c.api(user["b"], "GET", "/api/v3.0/"+path, "")
		require.Equal(t, 404, code, "what is not shared is not there: %s", path)
	}
	follows := c.follow(user["b"], "camera:"+shared)
	for _, name := range []string{"b", "a"} {
		require.NoError(t, clientOf(t, c.p.base, c.bridges[name]).Report(t.Context(), twinEvent(c, name, 30)))
	}
	told := hear(t, follows)
	require.Contains(t, told, "vendor of a")
	require.Contains(t, told, `"actorId":"`+shared+`"`)
	code, out, _ = c.as("asu@b.org", "GET", "/g/device?id="+url.QueryEscape(shared), nil)
	require.Equal(t, 200, code)
	require.Equal(t, "Gate of a", out["name"])

	// What a has goes with a.
	code, out, _ = c.as("root@example.org", "DELETE", "/g/account?id="+c.accounts["a"], nil)
	require.Equal(t, 200, code, "%v", out)
	require.Eventually(t, func() bool { return strings.Contains(c.p.logged(), "of a deleted account are removed") },
		time.Minute, 10*time.Millisecond)
	code, body = c.api(user["b"], "GET", "/api/v3.0/events?actor=camera:gate"+window, "")
	require.Equal(t, 200, code)
	require.Contains(t, body, `"totalSize":2`, "b's are all there")
	require.Zero(t, c.p.stop())
	c.p = startProcess(t, c.data, "--listen", "127.0.0.1:0")
	code, again := c.api(user["b"], "GET", "/api/v3.0/events?actor=camera:gate"+window, "")
	require.Equal(t, []any{200, body}, []any{code, again})
	code, _ = c.api(user["b"], "GET", "/api/v3.0/cameras/"+url.PathEscape(shared), "")
	require.Equal(t, 404, code)
}

// The bridges of two accounts are released each by its own.
func TestReleaseOneOfTwoBridges(t *testing.T) {
	t.Parallel()
	c := twins(t)
	_, errs, code := vmscloud(t, "bridge", "release", "--data", c.data, "bridge")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "--account")
	must(t, "bridge", "release", "--data", c.data, "--account", c.accounts["a"], "bridge")
	list := must(t, "bridge", "list", "--data", c.data)
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "bridge ") {
			require.Equal(t, strings.Contains(line, c.accounts["a"]), strings.Contains(line, "nobody"), list)
		}
	}
}
