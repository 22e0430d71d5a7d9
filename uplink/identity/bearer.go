package identity

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// A bearer token reads "vms1_<id>_<secret>": the id finds the record and may be shown, the secret
// is 256 random bits in base64url. The prefix lets scanners for leaked secrets know one.
const bearerPrefix = "vms1_"

const (
	idBytes     = 6
	bearerBytes = 32
)

// NewBearer makes a bearer token, its id and the hash to store.
func NewBearer() (id, token string, hash []byte) {
	id = NewID()
	raw := make([]byte, bearerBytes)
	_, _ = rand.Read(raw) // never fails: crypto/rand ends the program instead
	token = bearerPrefix + id + "_" + base64.RawURLEncoding.EncodeToString(raw)
	return id, token, HashToken(token)
}

// NewID makes a random id of 12 hexadecimal digits, for accounts, users and tokens. It names and
// does not open anything.
func NewID() string {
	raw := make([]byte, idBytes)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

// BearerID is the id inside a bearer token; ok is false if it does not have a token's form.
func BearerID(token string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(token, bearerPrefix)
	if !ok {
		return "", false
	}
	id, tail, ok := strings.Cut(rest, "_")
	return id, ok && len(id) == 2*idBytes && len(tail) == base64.RawURLEncoding.EncodedLen(bearerBytes)
}
