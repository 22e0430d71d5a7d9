package model

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/vms"
)

func knows(ids ...string) func(string) bool {
	return func(id string) bool {
		for _, have := range ids {
			if have == id {
				return true
			}
		}
		return false
	}
}

func codeOf(err error) int {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestAccess(t *testing.T) {
	have := Lists{{"c1", "R"}, {"c2", "RWS"}}
	got, err := ApplyAccess(have, [][]string{{"M", "c1", "rw"}, {"D", "c2"}, {"M", "c3", "S"}, {"D", "gone"}},
		knows("c1", "c3"))
	require.NoError(t, err)
	require.Equal(t, Lists{{"c1", "rw"}, {"c3", "S"}}, got, "letters stay as they were given")
	require.Equal(t, Lists{{"c1", "R"}, {"c2", "RWS"}}, have, "what was stored is not touched")
	for name, c := range map[string]struct {
		entry []string
		code  int
	}{"unknown device": {[]string{"M", "c9", "R"}, 404}, "no letters": {[]string{"M", "c1", ""}, 400},
		"no such letter": {[]string{"M", "c1", "RX"}, 400},
		"no such action": {[]string{"A", "c1", "R"}, 400}, "letters left out": {[]string{"M", "c1"}, 400}} {
		_, err := ApplyAccess(have, [][]string{c.entry}, knows("c1"))
		require.Equal(t, c.code, codeOf(err), name)
	}
}

func TestShares(t *testing.T) {
	registered := func(email string) string { return map[string]string{"b@x.org": "acc-b"}[email] }
	a := Account{ID: "acc-a", Status: Texts{StatusActive}}
	a, err := ApplyShares(a, [][]string{{"M", "c1", "b@x.org", "new@x.org,acc-n"}, {"M", "c2", "b@x.org"}},
		Object(`{"c1":{"b@x.org":["ptz_live"]}}`), knows("c1", "c2"), registered)
	require.NoError(t, err)
	require.Equal(t, Lists{{"c1", "b@x.org,acc-b", "new@x.org,acc-n"}, {"c2", "b@x.org,acc-b"}}, a.CameraShares)
	require.JSONEq(t, `{"c1":{"b@x.org,acc-b":["ptz_live"],"new@x.org,acc-n":[]},"c2":{"b@x.org,acc-b":[]}}`,
		string(a.CameraSharePerms))
	b := User{Email: "B@x.org", OwnerAccountID: "acc-b"}
	require.Equal(t, []string{"c1", "c2"}, SharedWith(a, b))
	require.Empty(t, SharedWith(a, User{Email: "b@x.org", OwnerAccountID: "acc-z"}),
		"another account's user of that address")
	require.Empty(t, SharedWith(a, User{Email: "b@x.org", OwnerAccountID: "acc-a"}), "the owner needs no share")
	less, err := ApplyShares(a, [][]string{{"D", "c1"}}, nil, knows(), registered)
	require.NoError(t, err)
	require.Equal(t, []string{"c2"}, SharedWith(less, b))
	require.NotContains(t, string(less.CameraSharePerms), "c1")
	require.Len(t, a.CameraShares, 2, "what was stored is not touched")
	suspended := a
	suspended.Status = Texts{StatusSuspended}
	require.Empty(t, SharedWith(suspended, b))
	for name, c := range map[string]struct {
		entry []string
		perms string
		code  int
	}{"unknown camera": {[]string{"M", "c9", "b@x.org"}, "", 404}, "no recipient": {[]string{"M", "c1"}, "", 400},
		"recipients to delete":        {[]string{"D", "c1", "b@x.org"}, "", 400},
		"no address":                  {[]string{"M", "c1", "bob"}, "", 400},
		"no such permission":          {[]string{"M", "c1", "b@x.org"}, `{"c1":{"b@x.org":["all"]}}`, 400},
		"permissions of another form": {[]string{"M", "c1", "b@x.org"}, `{"c1":["x"]}`, 400}} {
		_, err := ApplyShares(a, [][]string{c.entry}, Object(c.perms), knows("c1"), registered)
		require.Equal(t, c.code, codeOf(err), name)
	}
}

// Who is only said to have an address gets nothing that is meant for whoever has it.
func TestSharesWithoutAnAccountWantAProof(t *testing.T) {
	a := Account{ID: "a", Status: Texts{StatusActive}, CameraShares: Lists{{"c1", "g@x.org,"}},
		FirstResponders: Lists{{"g@x.org"}, {"g@x.org", "", "", "", ""}}, ResponderActive: true,
		ResponderCameras: Texts{"c2"}}
	u := User{Email: "G@x.org", OwnerAccountID: "b"}
	require.Empty(t, SharedWith(a, u))
	u.Inner.Mailbox = "other@x.org"
	require.Empty(t, SharedWith(a, u), "of the address that the user had before")
	u.Inner.Mailbox = "g@x.org"
	require.Equal(t, []string{"c1", "c2"}, SharedWith(a, u))
}

func TestResponders(t *testing.T) {
	a := Account{ID: "a", Status: Texts{StatusActive}, FirstResponders: Lists{{"r@x.org", "R", "S", "Fire", "b"}},
		ResponderCameras: Texts{"c1"}}
	r := User{Email: "r@x.org", OwnerAccountID: "b"}
	require.Empty(t, SharedWith(a, r), "only during an emergency")
	a.ResponderActive = true
	require.Equal(t, []string{"c1"}, SharedWith(a, r))
	require.Empty(t, SharedWith(a, User{Email: "r@x.org", OwnerAccountID: "c"}))
}

func TestGrants(t *testing.T) {
	cam := func(id string) vms.Actor { return vms.Actor{Type: vms.ActorCamera, ID: id} }
	home, child := Account{ID: "m", IsMaster: true}, Account{ID: "c", OwnerAccountID: "m"}
	ru := NewUser()
	ru.CameraAccess = Lists{{"c1", "R"}, {"c2", "WS"}, {"c3", "r"}}
	p := identity.Principal{AccountID: "m", Grants: GrantsOf(ru, home, home, map[string]string{"s1": "acc-s"}, nil)}
	require.True(t, p.Sees(cam("c1")) && p.Sees(cam("c3")) && p.Sees(cam("s1")))
	require.False(t, p.Sees(cam("c2")) || p.Sees(cam("c9")) || p.Sees(vms.Actor{Type: "account", ID: "m"}))
	require.Equal(t, "acc-s", p.Home("s1"))
	require.Equal(t, "m", p.Home("c1"))
	require.True(t, p.Views(vms.ImagePreview) && p.Views(vms.ImageMain) && p.ViewsEvents())

	ru.IsRecordedVideo, ru.IsLiveVideo, ru.IsExportVideo = false, false, false
	p.Grants = GrantsOf(ru, home, home, nil, nil)
	require.True(t, p.Views(vms.ImagePreview) && p.ViewsEvents())
	require.False(t, p.Views(vms.ImageMain))
	ru.IsPreviewVideo = false
	p.Grants = GrantsOf(ru, home, home, nil, nil)
	require.False(t, p.Views(vms.ImagePreview) || p.ViewsEvents())

	asu := User{IsAccountSuperuser: true}
	p.Grants = GrantsOf(asu, home, child, map[string]string{"s1": "acc-s"}, nil)
	require.True(t, p.Sees(cam("any")) && p.Views(vms.ImageMain))
	require.Equal(t, "m", p.Home("s1"), "what is shared with a user comes with the user's own account only")
	child.IsVideoDisabled = true
	p.Grants = GrantsOf(asu, home, child, nil, nil)
	require.False(t, p.Views(vms.ImageMain) || p.Views(vms.ImagePreview), "the sub-account blocks the reseller")
	p.Grants = GrantsOf(asu, child, child, nil, nil)
	require.True(t, p.Views(vms.ImageMain), "but not itself")
	require.True(t, (identity.Principal{}).Views(vms.ImageMain) && (identity.Principal{}).ViewsEvents())
}
