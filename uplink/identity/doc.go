// Package identity knows who asks. A Principal is the holder of a bearer token, with the account, the user and what these
// may see; uplink/server asks for one with each request and refuses what it does not grant. Fixed is the list of tokens in
// the bridge's YAML file; identity/store is the file of accounts, users and tokens.
//
// The rooms below make up the rest of the interface's identity document, each one noun, in the order in which they build on
// each other: status (answers and their precedence), secret (passwords and tokens), argument (parameters in every
// encoding), record (accounts, users and the table of their fields), rule (who may do what to whom), store (bbolt), session
// (signing in), factor (codes), saml (identity providers), oauth (bearer tokens), audit (the trail), post (mail and SMS), notice (what becomes of cameras) and
// web (the HTTP endpoints).
//
//	list := identity.NewFixed()
//	err := list.Add(token, identity.Principal{Name: "lan", AccountID: "acc-1"})
//	principal, err := list.Authenticate(token) // of a later request; ErrUnknown is a 401
package identity
