// Package oauth issues bearer tokens for /api/v3.0 (RFC 6749, RFC 7636, RFC 7009), and keeps API
// keys and clients. It checks people through identity/session and keeps tokens, hashed, in
// identity/store, which knows them again.
//
//	GET  /oauth2/authorize  a code for a client, by someone signed in; POST answers its page
//	POST /oauth2/sign-in    the forms of the page that signs browsers in, where there is no other
//	     /oauth2/consents   GET lists what the user lets clients do, DELETE takes it back
//	POST /oauth2/token      five grants; cookie is the vendor's own: a session's token
//	POST /oauth2/revoke     ends a token, and with a refresh token its whole family
//	     /oauth2/clients    GET lists, POST makes, DELETE ends clients of the session's account
//	     /oauth2/keys       the same for API keys, which go into the header Authentication
//	POST /api/v3.0/authorizationTokens  a token for a sub-account, made from a user's
//
// Tokens that come from one grant are a family. A refresh token is good once; one that comes a
// second time was stolen or its thief's is the other, and ends the family. A client serves the
// users of its account and of the accounts below, each of whom is asked once. Who asks for no scope
// gets vms.read, but for a client's own token, which is for all that it may have.
package oauth
