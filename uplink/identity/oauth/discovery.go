package oauth

import (
	"net/http"

	"vmsbridge/uplink/identity"
)

// PathWellKnown is below what programs look up the other paths, by either of two names.
const PathWellKnown = "/.well-known/"

// discovery is the metadata of RFC 8414, under its own name and that which OpenID Connect gave it
// first. There is no ID token.
func (s *OAuth) discovery(w http.ResponseWriter, c *call) error {
	at := s.here(c.r).String()
	return answer(w, http.StatusOK, map[string]any{
		"issuer":                                at,
		"authorization_endpoint":                at + "/oauth2/authorize",
		"token_endpoint":                        at + "/oauth2/token",
		"revocation_endpoint":                   at + "/oauth2/revoke",
		"scopes_supported":                      identity.Scopes,
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 grantTypes,
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post", "none"},
		"code_challenge_methods_supported":      []string{"S256"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{},
	})
}

// grantTypes are those that token takes.
var grantTypes = []string{"authorization_code", "refresh_token", "client_credentials", "password", "cookie"}
