// Package oauth issues bearer tokens for /api/v3.0: /oauth2/authorize, /oauth2/token and /oauth2/revoke, API keys and
// clients. It checks people through identity/session and keeps tokens, hashed, in identity/store.
package oauth
