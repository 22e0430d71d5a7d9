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
	require.NoError(t, f.Add("two", Principal{Name: "second", AccountID: "a", Kind: KindBridge, User: vms.User{ID: "u", LastName: "L", Language: "ja"}}))
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

	require.True(t, all.May(ScopeRead) && all.May(ScopeReport))
	require.True(t, Principal{Scopes: []string{ScopeAll}}.May(ScopeReport))
	require.False(t, Principal{Scopes: []string{ScopeRead}}.May(ScopeReport))
}
