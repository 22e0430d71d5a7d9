// Package identity knows who asks: bearer tokens, the accounts and users that they stand for, and what these may see.
// The servers in uplink/server hand it the token of a request and get a Principal, or an error that is a 401.
//
// Two stores do this. Store keeps accounts, users and tokens in a bbolt file, for vmscloud. Fixed is the list of tokens in
// the bridge's YAML file. Neither keeps a token itself: a token is 256 random bits, of which only the SHA-256 is stored,
// and a hash is compared in constant time. A stretched hash as for passwords would add nothing: there is nothing to
// guess in 256 random bits.
//
//	store, err := identity.Open(filepath.Join(dir, "identity.db"), identity.Options{})
//	token, secret, err := store.CreateToken(identity.Token{Kind: identity.KindBridge, AccountID: "acc-1", Name: "front gate"})
//	principal, err := store.Authenticate(secret) // of a later request
package identity
