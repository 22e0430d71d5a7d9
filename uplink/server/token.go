package server

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"

	"vmsbridge/uplink/vms"
)

// signer makes page tokens: opaque strings that hold what a request asked for. A token is
// base64url(MAC, JSON), where the first 16 bytes of HMAC-SHA256 cover the purpose, the account and
// the JSON, so that nobody can make one of their own, use one elsewhere, or hand us JSON of their
// choice.
type signer struct {
	key []byte
}

const macBytes = 16

// errToken is the same for every kind of bad token.
var errToken = errors.New("is not a token of this server; start again without it")

func (s signer) mac(purpose, account string, payload []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(purpose + "\x00" + account + "\x00"))
	h.Write(payload)
	return h.Sum(nil)[:macBytes]
}

func (s signer) sign(purpose, account string, v any) (string, error) {
	payload, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(s.mac(purpose, account, payload), payload...)), nil
}

// open checks a token and decodes it into v.
func (s signer) open(purpose, account, token string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < macBytes {
		return errToken
	}
	payload := raw[macBytes:]
	if !hmac.Equal(raw[:macBytes], s.mac(purpose, account, payload)) {
		return errToken
	}
	dec := json.NewDecoder(bytes.NewReader(payload))
	if err := dec.Decode(v); err != nil {
		return errToken
	}
	return nil
}

// eventsToken is a page of a list of events. Total is how many the first page counted.
type eventsToken struct {
	Query  vms.Query  `json:"q"`
	Cursor vms.Cursor `json:"c"`
	Total  *int       `json:"t,omitempty"`
}

// offsetToken is a page of a list that fits in memory.
type offsetToken struct {
	Offset   int        `json:"o"`
	PageSize int        `json:"n"`
	Include  []string   `json:"i,omitempty"`
	Chosen   url.Values `json:"f,omitempty"` // the arguments that choose what is listed, and its order
}

// placeOf reads which page of a list that fits in memory the arguments name. With a page token, the
// arguments that choose are those that the token holds, whatever the request says; include and
// pageSize may be given anew.
func placeOf(s *Server, c *call, a *args, purpose string) (offsetToken, error) {
	at := offsetToken{PageSize: defaultPageSize, Include: a.list("include")}
	if token := a.one("pageToken"); token != "" {
		if err := s.signer.open(purpose, c.principal.AccountID, token, &at); err != nil {
			a.bad("pageToken", err.Error())
		}
		if a.has("include") {
			at.Include = a.list("include")
		}
		at.PageSize = a.pageSize(at.PageSize)
		a.values = at.Chosen
		return at, a.err()
	}
	at.PageSize = a.pageSize(at.PageSize)
	at.Chosen = maps.Clone(a.values)
	maps.DeleteFunc(at.Chosen, func(name string, _ []string) bool {
		return slices.Contains([]string{"pageSize", "include", "pageToken"}, name)
	})
	return at, a.err()
}

// pageAt cuts the page at a place out of a whole list.
func pageAt[T any](s *Server, c *call, purpose string, at offsetToken, all []T) (vms.PageOf[T], error) {
	start := min(at.Offset, len(all))
	end := min(start+at.PageSize, len(all))
	token := func(offset int) (string, error) {
		next := at
		next.Offset = offset
		return s.signer.sign(purpose, c.principal.AccountID, next)
	}
	var next, prev string
	var err error
	if end < len(all) {
		if next, err = token(end); err != nil {
			return vms.PageOf[T]{}, err
		}
	}
	if start > 0 {
		if prev, err = token(max(0, start-at.PageSize)); err != nil {
			return vms.PageOf[T]{}, err
		}
	}
	return vms.MakePage(all[start:end], next, prev, len(all)), nil
}

// pageOf is both, for a list from which nothing is chosen.
func pageOf[T any](s *Server, c *call, a *args, purpose string, all []T) (vms.PageOf[T], offsetToken, error) {
	at, err := placeOf(s, c, a, purpose)
	if err != nil {
		return vms.PageOf[T]{}, at, err
	}
	page, err := pageAt(s, c, purpose, at, all)
	return page, at, err
}
