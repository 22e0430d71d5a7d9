package discover

import (
	"crypto/md5" //nolint:gosec // what HTTP digest is made with
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/http"
	"regexp"
	"strings"

	"github.com/icholy/digest"
)

// signIn is the transport of a client that answers a camera's HTTP digest challenge (RFC 7616),
// with qop auth, auth-int or none, by MD5 or SHA-256, in sessions or not. The library leaves out
// sessions, and takes only what is written as in the RFC's examples.
func signIn(who Credentials, base http.RoundTripper) http.RoundTripper {
	return &digest.Transport{Username: who.User, Password: who.Password, Transport: base, FindChallenge: findChallenge,
		Digest: respond}
}

var scheme = regexp.MustCompile(`(?i)(?:^|[\s,])(digest|basic|bearer|negotiate|ntlm)\s+`)

// findChallenge is the first challenge that can be answered: cameras name the one that they like
// best first. Some put all of them, Basic among them, into one line.
func findChallenge(h http.Header) (*digest.Challenge, error) {
	for _, line := range h.Values("WWW-Authenticate") {
		places := scheme.FindAllStringSubmatchIndex(line, -1)
		for i, place := range places {
			if !strings.EqualFold(line[place[2]:place[3]], "digest") {
				continue
			}
			end := len(line)
			if i+1 < len(places) {
				end = places[i+1][0]
			}
			c, err := digest.ParseChallenge(digest.Prefix + strings.TrimRight(line[place[1]:end], ", "))
			if err != nil {
				continue
			}
			for i, q := range c.QOP {
				c.QOP[i] = strings.ToLower(strings.TrimSpace(q))
			}
			plain := *c
			plain.Algorithm, _ = inSession(c.Algorithm)
			if digest.CanDigest(&plain) {
				return c, nil
			}
		}
	}
	return nil, digest.ErrNoChallenge
}

// inSession takes the "-sess" from an algorithm's name.
func inSession(algorithm string) (plain string, yes bool) {
	return strings.CutSuffix(strings.ToUpper(algorithm), "-SESS")
}

// respond is the answer to a challenge. In a session, A1 is made of the plain one, the nonce and
// one of ours (RFC 7616, 3.4.2).
func respond(_ *http.Request, c *digest.Challenge, o digest.Options) (*digest.Credentials, error) {
	plain, yes := inSession(c.Algorithm)
	if !yes {
		return digest.Digest(c, o)
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // never fails
	o.Cnonce = hex.EncodeToString(nonce[:])
	sum := func(s string) string {
		var h hash.Hash = md5.New() //nolint:gosec // the camera's choice
		if plain == "SHA-256" {
			h = sha256.New()
		}
		_, _ = h.Write([]byte(s)) // never fails
		return hex.EncodeToString(h.Sum(nil))
	}
	o.A1 = sum(sum(o.Username+":"+c.Realm+":"+o.Password) + ":" + c.Nonce + ":" + o.Cnonce)
	without := *c
	without.Algorithm = plain
	answer, err := digest.Digest(&without, o)
	if answer != nil {
		answer.Algorithm = c.Algorithm
	}
	return answer, err
}
