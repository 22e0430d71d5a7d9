// Package signin gets a bridge its bearer tokens where they are not simply given: by a person who
// signs in once (vmsbridge login), or by OAuth 2.0 (RFC 6749). What it gets stands in one file of
// mode 0600, and a [Source] keeps a good token at hand from then on:
//
//	Door.Authenticate, SendCode, Authorize ──▶ Saved ──Keep──▶ service.session
//	uplink/client ◀──Token, Base── Source ◀──Load, Keep──▶ service.session
//	                                 └──▶ POST /oauth2/token of the service
//
// A person's session is exchanged for tokens by the grant cookie, a refresh token for another one
// and a token, and a client's id and secret for a token. A new refresh token is on the disk before
// it is exchanged in turn, since the service takes each only once.
//
// Nothing here stops a bridge from recording. While the service refuses what there is,
// [Source.Token] says so each time it is asked, without asking the service again and again; a new
// sign-in, which replaces the file, is noticed without a restart.
package signin
