package server

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// A picture in a page is asked for by the browser itself, which sends no bearer token. So images
// are let in by one of three: a bearer token, the cookie that GET /media/session sets, or a
// signature in the address (see sign).
//
// The cookie is the bearer token, encrypted with a key of this server: it opens only what is below
// its path, is good only as long as its token is, and survives a restart. Browsers send it for
// pages of the same site only.

const (
	mediaCookie  = "vms_media"
	mediaPath    = "/api/v3.0/media"
	mediaSession = 12 * time.Hour
)

// who finds who sent a request: by its bearer token, or for an image also as mayLook says.
func (s *Server) who(r *http.Request) (identity.Principal, error) {
	if r.URL.Path == vms.PathImage || r.URL.Path == vms.PathLiveImage {
		return s.mayLook(r)
	}
	return authenticate(s.opts.Auth, r)
}

// openMediaSession is GET /media/session: it sets the cookie and tells the address that does.
// Clients of the public service ask that address in turn, which does no harm.
func (s *Server) openMediaSession(c *call) error {
	_, token, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	here := s.here(c.r)
	http.SetCookie(c.w,
		&http.Cookie{Name: mediaCookie, Value: s.seal(strings.TrimSpace(token), "", time.Now().Add(mediaSession)),
			Path: mediaPath, MaxAge: int(mediaSession / time.Second), HttpOnly: true, Secure: here.Scheme == "https",
			SameSite: http.SameSiteStrictMode})
	return c.ok(map[string]string{"url": here.String() + mediaPath + "/session"})
}

// mayLook finds who asks for an image.
func (s *Server) mayLook(r *http.Request) (identity.Principal, error) {
	if r.Header.Get("Authorization") != "" {
		return authenticate(s.opts.Auth, r)
	}
	if r.URL.Query().Has(argSignature) {
		return s.bySignature(r)
	}
	cookie, err := r.Cookie(mediaCookie)
	if err != nil {
		return identity.Principal{}, unauthenticated()
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return identity.Principal{}, vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated,
			"The cookie of images opens nothing for a page of another site; use a signed address there")
	}
	token, err := s.unseal(cookie.Value, "", time.Now())
	if err != nil {
		return identity.Principal{}, vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated,
			"The cookie of images "+err.Error()+": ask "+mediaPath+"/session for a new one")
	}
	return authenticateToken(s.opts.Auth, r, token)
}

// cookies is the cipher of the cookie; its key is made of that of page tokens.
func (s *Server) cookies() cipher.AEAD {
	mac := hmac.New(sha256.New, s.signer.key)
	mac.Write([]byte("media session"))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}

// seal encrypts a token for a path of this server, "" for the cookie of images.
func (s *Server) seal(token, path string, until time.Time) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()))
	return base64.RawURLEncoding.EncodeToString(s.cookies().Seal(nil, nil, append(plain, token...), []byte(path)))
}

// unseal is the token that was sealed for a path. The error says what is wrong with the value.
func (s *Server) unseal(value, path string, now time.Time) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err == nil {
		raw, err = s.cookies().Open(nil, nil, raw, []byte(path))
	}
	if err != nil || len(raw) < 8 {
		return "", errors.New("is not one of this server")
	}
	if now.Unix() >= int64(binary.BigEndian.Uint64(raw)) {
		return "", errors.New("has expired")
	}
	return string(raw[8:]), nil
}
