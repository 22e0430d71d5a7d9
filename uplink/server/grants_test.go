package server

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// as makes a token of a user of acc-1 with grants.
func (b *bed) as(token string, g *identity.Grants) {
	b.t.Helper()
	require.NoError(b.t,
		b.server.opts.Auth.(*identity.Fixed).Add(token, identity.Principal{Name: token, AccountID: "acc-1", Grants: g}))
}

// A user sees the cameras that the record grants, and of them what the flags allow.
func TestGrantsAreKept(t *testing.T) {
	b := newBed(t)
	b.images = func(q ImageQuery) (Image, error) {
		return Image{Time: t0, Length: -1, Body: io.NopCloser(strings.NewReader("\xff\xd8\xff" + q.Account))}, nil
	}
	full := identity.Grants{Devices: map[string]string{"cam-1": "R", "cam-2": "WS"},
		Shared: map[string]string{"cam-9": "acc-2"}, Preview: true, Recorded: true}
	preview, blind := full, full
	preview.Recorded = false
	blind.Preview, blind.Recorded = false, false
	for token, g := range map[string]*identity.Grants{"full": &full, "preview": &preview, "blind": &blind,
		"all": {All: true, Preview: true, Recorded: true},
		"all of one and a share": {All: true, Preview: true, Recorded: true,
			Shared: map[string]string{"cam-8": "acc-2"}}, "none": {Preview: true, Recorded: true}} {
		b.as(token, g)
	}
	at := "&timestamp__lt=2027-01-01T00:00:00Z"
	for _, c := range []struct {
		token, path string
		want        int
	}{
		{"full", "/api/v3.0/cameras/cam-1", 200}, {"full", "/api/v3.0/cameras/cam-2", 404},
		{"full", "/api/v3.0/cameras/cam-3", 404}, {"full", "/api/v3.0/cameras/cam-9", 200},
		{"all of one and a share", "/api/v3.0/cameras/cam-9", 404},
		{"all of one and a share", "/api/v3.0/events?actor=camera:cam-9" + window, 404},
		{"all of one and a share", imagePath + "deviceId=cam-9&type=preview" + at, 404},
		{"none", "/api/v3.0/cameras/cam-1", 404}, {"all", "/api/v3.0/cameras/cam-5", 200},
		{"all", "/api/v3.0/cameras/cam-9", 404}, {"blind", "/api/v3.0/cameras/cam-1", 200},
		{"full", imagePath + "deviceId=cam-1&type=main" + at, 200},
		{"full", imagePath + "deviceId=cam-9&type=preview" + at, 200},
		{"full", imagePath + "deviceId=cam-2&type=preview" + at, 404},
		{"preview", imagePath + "deviceId=cam-1&type=main" + at, 403},
		{"preview", imagePath + "deviceId=cam-1&type=preview" + at, 200},
		{"blind", imagePath + "deviceId=cam-1&type=preview" + at, 403},
		{"none", imagePath + "deviceId=cam-1&type=preview" + at, 404},
		{"all", imagePath + "deviceId=cam-9&type=preview" + at, 404},
		{"full", "/api/v3.0/events?actor=camera:cam-1" + window, 200},
		{"full", "/api/v3.0/events?actor=camera:cam-9" + window, 200},
		{"full", "/api/v3.0/events?actor=camera:cam-3" + window, 404},
		{"full", "/api/v3.0/events?actor__in=camera:cam-1,camera:cam-3" + window, 404},
		{"blind", "/api/v3.0/events?actor=camera:cam-1" + window, 403},
		{"blind", "/api/v3.0/events:listRecentByType?actor=camera:cam-1&type__in=x", 403},
		{"full", "/api/v3.0/events?actor=bridge:bridge-1" + window, 404},
		{"all", "/api/v3.0/events?actor=bridge:bridge-1" + window, 200},
	} {
		require.Equal(t, c.want, b.do("GET", c.path, c.token, "").code, "%s %s", c.token, c.path)
	}
	ids := func(token string) (out []string) {
		var page vms.PageOf[vms.Camera]
		b.do("GET", "/api/v3.0/cameras", token, "").into(200, &page)
		for _, cam := range page.Results {
			out = append(out, cam.ID)
		}
		return out
	}
	require.Equal(t, []string{"cam-1", "cam-9"}, ids("full"))
	require.Equal(t, []string{"cam-1", "cam-2", "cam-3", "cam-4", "cam-5"}, ids("all"))
	require.Empty(t, ids("none"))
	require.Contains(t, string(b.do("GET", imagePath+"deviceId=cam-9&type=main"+at, "full", "").body), "acc-2",
		"the image is asked of the account that shares it")
}

// An event is refused by its id as it is refused in a list.
func TestAnEventByIDNeedsTheGrants(t *testing.T) {
	b := newBed(t)
	ev := motion("cam-1", 1, time.Second)
	b.put(ev)
	b.as("sees", &identity.Grants{Devices: map[string]string{"cam-1": "R"}, Preview: true})
	b.as("blind", &identity.Grants{Devices: map[string]string{"cam-1": "R"}})
	b.as("other", &identity.Grants{Devices: map[string]string{"cam-2": "R"}, Preview: true})
	for token, want := range map[string]int{"sees": 200, "blind": 403, "other": 404} {
		require.Equal(t, want, b.do("GET", vms.PathEvents+"/"+ev.ID, token, "").code, token)
	}
}

// Who lacks a scope is told a way to it that is one: no configuration and no command gives vms.all.
func TestHowToGetAScope(t *testing.T) {
	b := newBed(t)
	b.do("POST", "/api/v3.0/events", tokenReader, "{}").refused(403, vms.ReasonPermission, "scopes: [read, report]",
		"vmscloud token create")
	require.Contains(t, lacksScope(identity.ScopeAll), "scope=vms.all")
	require.NotContains(t, lacksScope(identity.ScopeAll), "scopes: [read, report]")
}
