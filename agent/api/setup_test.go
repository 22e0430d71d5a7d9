package api

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
)

// Only a signed-in administrator of the bridge's own account sets it up.
func TestWhoAdministers(t *testing.T) {
	all := []string{identity.ScopeAll}
	right := identity.Principal{Kind: identity.KindUser, AccountID: "acc", Grants: &identity.Grants{All: true},
		Scopes: all}
	require.True(t, administers(right, "acc"))
	for name, change := range map[string]func(p *identity.Principal){
		"a token of the configuration": func(p *identity.Principal) { p.Grants = nil },
		"a user with some rights": func(p *identity.Principal) {
			p.Grants = &identity.Grants{Edits: true, Sets: true}
		},
		"a token that only reads":     func(p *identity.Principal) { p.Scopes = []string{identity.ScopeRead} },
		"a bridge":                    func(p *identity.Principal) { p.Kind = identity.KindBridge },
		"somebody of another account": func(p *identity.Principal) { p.AccountID = "other" },
	} {
		p := right
		change(&p)
		require.False(t, administers(p, "acc"), name)
	}
}

// A wish that cannot be read is refused without being repeated: there may be a password in it.
func TestWishesThatCannotBeRead(t *testing.T) {
	for _, body := range []string{"", "{", `{"password":"s3cret","colour":1}`, `{"password":1}`, `{} {"password":"s3cret"}`,
		`{"name":"` + strings.Repeat("s3cret", 4000) + `"}`} {
		_, err := wished(httptest.NewRequest("POST", "/web/cameras", strings.NewReader(body)))
		require.ErrorContains(t, err, "one JSON object")
		require.NotContains(t, err.Error(), "s3cret")
	}
	w, err := wished(httptest.NewRequest("POST", "/web/cameras", strings.NewReader(`{"address":"10.0.0.5","password":"s3cret"}`)))
	require.NoError(t, err)
	require.Equal(t, "s3cret", w.draft().Password.Reveal())
}
