package main

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// What each kind of caller may do at a camera of bridge-a: every caller, every owner of an event,
// every operation.
func TestWhoMayDoWhatAtACamera(t *testing.T) {
	c := newCloud(t)
	account := c.accounts["a"]
	user := func(email, letters string) string {
		code, out, _ := c.as("asu@a.org", "PUT", "/g/user",
			map[string]any{"first_name": "R", "last_name": "U", "email": email})
		require.Equal(t, 200, code, "%v", out)
		if letters != "" {
			code, more, _ := c.as("asu@a.org", "POST", "/g/user",
				map[string]any{"id": out["id"], "camera_access": [][]string{{"M", "cam-a", letters}}})
			require.Equal(t, 200, code, "%v", more)
		}
		c.begin(email)
		return c.bearer(email)
	}
	second := must(t, "token", "create", "--data", c.data, "--kind", "bridge", "--account", account, "--quiet")
	require.NoError(t,
		clientOf(t, c.p.base, second).Register(t.Context(),
			vms.Registration{ID: "bridge-a2", Cameras: []vms.RegisteredCamera{{ID: "cam-a2", Name: "Yard"}}}))
	token := func(more ...string) string {
		return must(t, append([]string{"token", "create", "--data", c.data, "--account", account, "--quiet", "--kind"},
			more...)...)
	}
	const none, looks, reports = 0, 1, 2
	callers := map[string]struct {
		token    string
		may      int
		account  string
		register int // what naming cam-a in a registration of its own answers
	}{
		"its bridge":                {c.bridges["a"], reports, account, 409}, // under another bridge's id: see below
		"another bridge":            {second, none, account, 409},
		"a bridge of none":          {token("bridge"), none, account, 409},
		"another account's bridge":  {c.bridges["b"], none, c.accounts["b"], 200},
		"administrator":             {c.bearer("asu@a.org"), reports, account, 409},
		"user with R":               {user("r@a.org", "R"), looks, account, 403},
		"user with RW":              {user("w@a.org", "RW"), reports, account, 403},
		"user with nothing":         {user("n@a.org", ""), none, account, 403},
		"user's token":              {token("user"), looks, account, 403},
		"user's token that reports": {token("user", "--scope", "read", "--scope", "report"), reports, account, 409},
		"bridge's token that reads": {token("bridge", "--scope", "read"), none, account, 403},
	}
	event := func(in string, n int, end time.Duration) (string, string) {
		ev := motion(in, "cam-a", n)
		if end > 0 {
			ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(end))
		}
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		return string(raw), ev.ID
	}
	admin := callers["administrator"].token
	stored := func(id string) string {
		code, body := c.api(admin, "GET", "/api/v3.0/events/"+url.PathEscape(id), "")
		require.Equal(t, 200, code, body)
		return body
	}
	n := 1000
	refusal := func(may int, in string) []int {
		switch {
		case may == looks:
			return []int{403}
		case in != account:
			return []int{404} // it reports of its own account, which has no such camera
		}
		return []int{403, 404}
	}
	for name, x := range callers {
		look := []int{404}
		image := []int{404}
		if x.may >= looks {
			look, image = []int{200, 201}, []int{503} // the bridge is away
		}
		_, id := event(account, 0, 0)
		for path, want := range map[string][]int{"events?actor=camera:cam-a" + window: look, "events/" +
			url.PathEscape(id): look, "cameras/cam-a": look,
			"events:listFieldValues?actor=camera:cam-a":                                               look,
			"media/recordedImage.jpeg?deviceId=cam-a&type=preview&timestamp__lt=2027-01-01T00:00:00Z": image} {
			code, body := c.api(x.token, "GET", "/api/v3.0/"+path, "")
			require.Contains(t, want, code, "%s looks: %s: %s", name, path, body)
		}
		code, body := c.api(x.token, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:cam-a"]}]}`)
		require.Contains(t, look, code, "%s subscribes: %s", name, body)

		for owner, o := range callers {
			if o.may < reports {
				continue
			}
			n++
			begun, id := event(account, n, 0)
			code, body := c.api(o.token, "POST", "/api/v3.0/events", begun)
			require.Equal(t, 201, code, "%s: %s", owner, body)
			before := stored(id)
			for _, length := range []time.Duration{0, time.Second, 2 * time.Second} { // as it is, its end, another end
				sent, _ := event(x.account, n, length)
				code, body := c.api(x.token, "POST", "/api/v3.0/events", sent)
				switch {
				// The tokens of one user are one owner.
				case name == owner || x.may >= reports && sameUser(name, owner):
					require.Equal(t, 201, code, "%s over %s: %s", name, owner, body)
					continue
				case x.may >= reports:
					require.Equal(t, 409, code, "%s over %s: %s", name, owner, body)
				default:
					require.Contains(t, refusal(x.may, x.account), code, "%s over %s: %s", name, owner, body)
				}
				require.Equal(t, before, stored(id), "%s over %s: nothing changes", name, owner)
			}
		}

		// A status of the camera by the system's health is its bridge's.
		ev := motion(x.account, "cam-a", n+5000)
		ev.Type, ev.CreatorID, ev.EndTimestamp = vms.TypeDeviceStatus, vms.CreatorHealth,
			vms.Ptr(ev.StartTimestamp.Add(time.Second))
		ev.SetData(vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusDeviceOffline))
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		code, body = c.api(x.token, "POST", "/api/v3.0/events", string(raw))
		if name == "its bridge" {
			require.Equal(t, 201, code, body)
		} else {
			require.Contains(t, []int{403, 404}, code, "%s: %s", name, body)
		}

		// Another's bridge, its camera and its tunnel. Its own credential may move the camera
		// between its own bridges.
		want := map[string]int{"bridge-a": 409, "bridge-x": x.register}
		if x.register == 403 {
			want["bridge-a"] = 403
		}
		if name != "its bridge" && x.account == account {
			for bridge, w := range want {
				code, body = c.api(x.token, "POST", "/api/v3.0/bridges:register", `{"id":"`+bridge+`","name":"x","cameras":[{"id":"cam-a","name":"x"}]}`)
				require.Equal(t, w, code, "%s registers %s: %s", name, bridge, body)
			}
			code, body = c.api(x.token, "GET", "/api/v3.0/bridges:tunnel?bridgeId=bridge-a", "")
			require.Equal(t, want["bridge-a"], code, "%s opens the tunnel: %s", name, body)
		}
	}
	code, body := c.api(callers["another bridge"].token, "GET", "/api/v3.0/cameras", "")
	require.Equal(t, 200, code)
	require.Contains(t, body, `"cam-a2"`)
	require.NotContains(t, body, `"cam-a"`)
}

// sameUser says whether two callers are credentials of the same user: the administrator and a token
// made for it.
func sameUser(a, b string) bool {
	of := map[string]bool{"administrator": true, "user's token that reports": true}
	return of[a] && of[b]
}
