package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewToken makes n random letters and digits, each worth 5.95 bits.
func NewToken(n int) string {
	out := make([]byte, 0, n)
	raw := make([]byte, n+n/4+8)
	for {
		_, _ = rand.Read(raw) // never fails: crypto/rand ends the program instead
		for _, b := range raw {
			if len(out) == n {
				return string(out)
			}
			if int(b) < 256-256%len(digits) { // the rest would favour the first digits
				out = append(out, digits[int(b)%len(digits)])
			}
		}
	}
}

// ticketBytes is the size of a sign-in token in recorded traffic: 344 characters of base64.
const ticketBytes = 256

// NewTicket makes the single-use token that authenticate answers, in standard base64 as the public
// service does. It holds + / =, so clients must encode it in forms and links.
func NewTicket() string {
	raw := make([]byte, ticketBytes)
	_, _ = rand.Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

// NewCode makes four decimal digits.
func NewCode() string {
	var raw [2]byte
	for {
		_, _ = rand.Read(raw[:])
		if n := int(raw[0])<<8 | int(raw[1]); n < 60000 {
			n %= 10000
			return string([]byte{'0' + byte(n/1000), '0' + byte(n/100%10), '0' + byte(n/10%10), '0' + byte(n%10)})
		}
	}
}

// HashToken is what is stored of a token: its SHA-256.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// SameHash compares two hashes in a time that does not depend on them.
func SameHash(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
