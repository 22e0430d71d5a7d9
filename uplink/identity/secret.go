package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// A token reads "vms1_<id>_<secret>": the id finds the record and may be shown, the secret is 256 random bits in
// base64url. The prefix lets scanners for leaked secrets know one.
const tokenPrefix = "vms1_"

const (
	idBytes     = 6
	secretBytes = 32
)

// newSecret makes a token, its id and the hash to store.
func newSecret() (id, token string, hash []byte) {
	id = NewID()
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails: crypto/rand ends the program instead
	token = tokenPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(raw)
	return id, token, hashOf(token)
}

// NewID makes a random id of 12 hexadecimal digits, for accounts, users and tokens.
func NewID() string {
	raw := make([]byte, idBytes)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

// idOf is the id inside a token; ok is false if it does not have a token's form.
func idOf(token string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return "", false
	}
	id, secret, ok := strings.Cut(rest, "_")
	return id, ok && len(id) == 2*idBytes && len(secret) == base64.RawURLEncoding.EncodedLen(secretBytes)
}

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func sameHash(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
