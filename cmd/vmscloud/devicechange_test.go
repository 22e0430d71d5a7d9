package main

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// told are the names of the device events of an actor at the service, oldest first, each with the
// name of the device then.
func (c *cloud) told(token, actor string) (list []string) {
	c.t.Helper()
	code, body := c.api(token, "GET",
		"/api/v3.0/events?actor="+actor+"&include=data.vms.resourceDetails.v1&sort=%2BstartTimestamp&startTimestamp__gte=2026-01-01T00:00:00Z"+
			"&type__in=vms.deviceCreationEvent.v1,vms.deviceUpdateEvent.v1,vms.deviceDeletionEvent.v1&endTimestamp__lte="+url.QueryEscape(vms.At(time.Now().Add(time.Hour)).String()), "")
	if code != 200 {
		return nil
	}
	var page vms.EventPage
	require.NoError(c.t, json.Unmarshal([]byte(body), &page))
	for _, ev := range page.Results {
		var d struct{ ResourceName string }
		require.Len(c.t, ev.Data, 1)
		require.NoError(c.t, ev.Data[0].Into(&d))
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(ev.Type, "vms.device"),
			"Event.v1")+" "+d.ResourceName)
	}
	return list
}

// An event tells of each camera and bridge that comes, gets another name, goes, and comes back; a
// registration that says the same again is none.
func TestEventsOfDevices(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	token := c.bearer("asu@a.org")
	b := clientOf(t, c.p.base, c.bridges["a"])
	is := func(actor string, want ...string) {
		t.Helper()
		var got []string
		require.Eventually(t, func() bool { got = c.told(token, actor); return len(got) >= len(want) }, time.Minute,
			50*time.Millisecond, "%s: %v", actor, &got)
		require.Equal(t, want, got, actor)
	}
	register := func(name, bridge string, more ...vms.RegisteredCamera) {
		t.Helper()
		reg := registration("a")
		reg.Name, reg.Cameras[0].Name = bridge, name
		reg.Cameras = append(reg.Cameras, more...)
		require.NoError(t, b.Register(t.Context(), reg))
	}
	is("camera:cam-a", "Creation Gate of a")
	is("bridge:bridge-a", "Creation Bridge a")
	yard := vms.RegisteredCamera{ID: "yard", Name: "Yard"}
	register("Gate of a", "Bridge a", yard)
	register("Gate of a", "Bridge a", yard)
	is("camera:yard", "Creation Yard")
	register("Front gate", "Box", yard)
	is("camera:cam-a", "Creation Gate of a", "Update Front gate")
	is("bridge:bridge-a", "Creation Bridge a", "Update Box")
	code, body := c.api(token, "PATCH", "/api/v3.0/cameras/yard", `{"name":"Car park"}`)
	require.Equal(t, 204, code, body)
	is("camera:yard", "Creation Yard", "Update Car park")
	yard.Name = "Yard 2" // which nobody sees
	register("Front gate", "Box", yard)
	register("Front gate", "Box")
	is("camera:yard", "Creation Yard", "Update Car park", "Deletion Car park")
	register("Front gate", "Box", yard)
	is("camera:yard", "Creation Yard", "Update Car park", "Deletion Car park", "Creation Car park")
	// Another account hears nothing of it.
	require.Empty(t, c.told(c.bearer("asu@b.org"), "camera:yard"))
}

// A change is told although the service ended before it was noted in the trail.
func TestChangesOfDevicesOutlastAnEnd(t *testing.T) {
	dir := t.TempDir()
	ids, err := openUsers(dir, store.Options{Volatile: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, ids.Close()) }()
	path := filepath.Join(dir, registryFile)
	reg, err := registry.Open(path)
	require.NoError(t, err)
	say := func(name string, cameras ...string) {
		r := vms.Registration{ID: "b1", Name: name}
		for _, id := range cameras {
			r.Cameras = append(r.Cameras, vms.RegisteredCamera{ID: id, Name: id})
		}
		require.NoError(t, reg.Register(t.Context(), principal("acc-1"), r))
	}
	say("Box", "c1", "c2")
	say("Box", "c1")
	say("Box of mine", "c1", "c2")
	require.NoError(t, reg.Close())
	reg, err = registry.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, reg.Close()) }()
	require.NoError(t, recordDevices(ids, reg, "", ""))
	require.Empty(t, reg.Untold("", ""))
	require.NoError(t, recordDevices(ids, reg, "", ""), "nothing is told twice")
	said := map[string]string{}
	require.NoError(t, ids.View(func(tx *store.Tx) error {
		list, err := tx.AuditTrailAfter(0, 100)
		for _, e := range list {
			said[e.Kind+" "+e.Target] += string(e.Action) + " "
		}
		return err
	}))
	require.Equal(t, map[string]string{"bridge b1": "create update ", "camera c1": "create ",
		"camera c2": "create delete create "}, said)
}
