package identity

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

func TestFixed(t *testing.T) {
	f := NewFixed()
	_, err := f.Authenticate("")
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorContains(t, f.Add("", Principal{Name: "lan"}), "lan")
	_, err = f.Authenticate("")
	require.ErrorIs(t, err, ErrUnknown)
	require.NoError(t, f.Add("one", Principal{Name: "first", AccountID: "a"}))
	require.NoError(t, f.Add("two", Principal{Name: "second", AccountID: "a", Kind: KindBridge,
		User: vms.User{ID: "u", LastName: "L", Language: "ja"}}))
	p, err := f.Authenticate("one")
	require.NoError(t, err)
	require.Equal(t, KindUser, p.Kind)
	require.Equal(t, vms.User{ID: "first", FirstName: "first", AccountID: "a", Language: "en"}, p.User)
	p, err = f.Authenticate("two")
	require.NoError(t, err)
	require.Equal(t, vms.User{ID: "u", LastName: "L", AccountID: "a", Language: "ja"}, p.User)
	for _, bad := range []string{"on", "onee", "ONE", "one "} {
		_, err = f.Authenticate(bad)
		require.ErrorIs(t, err, ErrUnknown)
	}
}

func TestPrincipal(t *testing.T) {
	cam := func(id string) vms.Actor { return vms.Actor{Type: vms.ActorCamera, ID: id} }
	all, one, none := Principal{}, Principal{Cameras: []string{"c1"}}, Principal{Cameras: []string{}}
	require.True(t, all.Sees(cam("c2")) && all.Sees(vms.Actor{Type: vms.ActorBridge, ID: "b"}))
	require.True(t, one.Sees(cam("c1")))
	require.False(t, one.Sees(cam("c2")) || one.Sees(vms.Actor{Type: vms.ActorBridge, ID: "c1"}))
	require.False(t, none.Sees(cam("c1")), "a list without a camera is not the same as no list")

	for _, kind := range []Kind{"", KindUser, KindBridge} {
		require.True(t, Principal{Kind: kind}.May(ScopeRead))
		require.Equal(t, kind == KindBridge, Principal{Kind: kind}.May(ScopeReport),
			"only a bridge reports without being told so: %q", kind)
	}
	require.False(t, Principal{Kind: KindBridge, Scopes: []string{ScopeRead}}.May(ScopeReport))
	require.True(t, Principal{Scopes: []string{ScopeAll}}.May(ScopeReport))
	require.False(t, Principal{Scopes: []string{ScopeRead}}.May(ScopeReport))
}

// Reporting takes W on the camera, or an administrator; looking at it is not enough, and what
// another account shares is not to be written at all.
func TestWhoReports(t *testing.T) {
	cam, sensor := vms.Actor{Type: vms.ActorCamera, ID: "c1"}, vms.Actor{Type: "sensor", ID: "s1"}
	user := func(edit func(*Grants)) Principal {
		g := Grants{Devices: map[string]string{}, Preview: true}
		edit(&g)
		return Principal{Kind: KindUser, AccountID: "a", Grants: &g}
	}
	for name, c := range map[string]struct {
		p           Principal
		cam, sensor bool
	}{
		"a token of no user":     {Principal{Kind: KindUser}, true, true},
		"a bridge":               {Principal{Kind: KindBridge}, true, true},
		"a token of one camera":  {Principal{Kind: KindUser, Cameras: []string{"c1"}}, true, false},
		"a token of another":     {Principal{Kind: KindBridge, Cameras: []string{"c2"}}, false, false},
		"an administrator":       {user(func(g *Grants) { g.All = true }), true, true},
		"nothing":                {user(func(*Grants) {}), false, false},
		"R":                      {user(func(g *Grants) { g.Devices["c1"] = "R" }), false, false},
		"RS":                     {user(func(g *Grants) { g.Devices["c1"] = "RS" }), false, false},
		"RW":                     {user(func(g *Grants) { g.Devices["c1"] = "rw" }), true, false},
		"RW elsewhere":           {user(func(g *Grants) { g.Devices["c2"] = "RW" }), false, false},
		"edits, sees":            {user(func(g *Grants) { g.Edits, g.Devices["c1"] = true, "R" }), true, false},
		"edits, sees not":        {user(func(g *Grants) { g.Edits = true }), false, false},
		"RW, but sees no events": {user(func(g *Grants) { g.Devices["c1"], g.Preview = "RW", false }), false, false},
		"shut out":               {user(func(g *Grants) { g.All, g.Preview = true, false }), false, false},
		"shared, and W of its own": {user(func(g *Grants) {
			g.Devices["c1"], g.Shared = "RW",
				map[string]string{"c1": "b"}
		}), false, false},
		"shared, administrator": {user(func(g *Grants) { g.All, g.Shared = true, map[string]string{"c1": "b"} }),
			false, true},
	} {
		require.Equal(t, c.cam, c.p.Reports(cam), name)
		require.Equal(t, c.sensor, c.p.Reports(sensor), name)
	}
}
