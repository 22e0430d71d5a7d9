// Package secret makes and checks what must not be guessed or read back: password hashes (argon2id in PHC form), random
// tokens and ids, the hashes under which tokens are stored, and four-digit codes. A leaf that does no I/O.
//
// A token of 190 random bits or more is stored as its SHA-256: there is nothing to guess, so a stretched hash would add
// nothing. A password is stretched, and so is the check for a user who does not exist, so that the time tells nothing.
//
//	hash, err := hasher.Hash(ctx, password)
//	ok, err := hasher.Check(ctx, hash, password) // "" as hash takes as long and is never right
package secret
