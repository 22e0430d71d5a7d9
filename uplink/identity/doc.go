// Package identity knows who asks. A Principal is the holder of a bearer token, with the account,
// the user and what these may see; uplink/server asks for one with each request and refuses what it
// does not grant. Fixed is the list of tokens in the bridge's YAML file; identity/store is the file
// of accounts, users and tokens. Beside it stands what shows who somebody is: password hashes
// (argon2id in PHC form), random tokens and ids, the hashes under which tokens are stored,
// four-digit codes.
//
// A token of 190 random bits or more is stored as its SHA-256: there is nothing to guess. A
// password is stretched, and so is the check for a user who does not exist, so that the time tells
// nothing.
//
// The packages below serve the /g/ and /oauth2/ interface. Each builds on those before it:
//
//	api      parameters of a request in every encoding, answers that are not a success
//	model    accounts, users, their fields, the audit trail's entries, who may do what to whom
//	store    the bbolt file
//	notify   mail and SMS, notices of camera status, export of the audit trail
//	session  sign-in, second factor, sessions
//	saml     identity providers
//	oauth    bearer tokens
//	web      the HTTP endpoints
package identity
