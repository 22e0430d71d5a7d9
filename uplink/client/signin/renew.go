package signin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// issued is an answer of the token endpoint (RFC 6749 §5.1), with the base address that the service
// adds.
type issued struct {
	Access  string  `json:"access_token"`
	Seconds seconds `json:"expires_in"`
	Refresh string  `json:"refresh_token"`
	Base    place   `json:"httpsBaseUrl"`
}

// seconds is a number, or one in a text as some services write it; 0 for what is neither.
type seconds int64

// UnmarshalJSON takes anything.
func (n *seconds) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil || !(f > 0) {
		*n = 0
		return nil
	}
	*n = seconds(min(f, longest.Seconds()))
	return nil
}

// Bounds of how long a token is used. One without a time is used for an hour; it is renewed when
// nine tenths are over.
const (
	assumedLife = time.Hour
	shortest    = 10 * time.Second
	longest     = 30 * 24 * time.Hour
)

// renew exchanges what was kept for a token.
func (s *Source) renew(ctx context.Context) error {
	if s.dirty {
		// The service takes a refresh token once. If the bridge went down after this exchange, the
		// disk would hold one that is used up already.
		if err := s.keep(); err != nil {
			return fmt.Errorf("the refresh token is not exchanged before it is on the disk: %w", err)
		}
	}
	now := s.o.Now()
	got, err := s.saved.exchange(ctx, s.o.HTTP)
	if err != nil {
		return err
	}
	life := time.Duration(got.Seconds) * time.Second
	if got.Seconds <= 0 {
		life = assumedLife
	}
	next := s.saved
	next.Access, next.Until = got.Access, now.Add(min(max(life, shortest), longest)*9/10)
	if got.Refresh != "" && next.Session == "" {
		next.Refresh = got.Refresh
	}
	if base := got.Base.address(next.Door); base != "" {
		next.Base = base
	} else if base, err := next.ask(ctx, s.o.HTTP); err == nil {
		next.Base = base
	}
	s.saved, s.made, s.dirty = next, now, true
	s.told()
	if err := s.keep(); err != nil {
		// The token is good all the same. Its successor waits until this is on the disk.
		s.o.Log.Warn("what the service gave for the next sign-in could not be written; it is tried again", "error", err)
	}
	return nil
}

// scopeAll is the public service's name of all that a user may do.
const scopeAll = "vms.all"

// exchange asks the token endpoint.
func (s Saved) exchange(ctx context.Context, client *http.Client) (issued, error) {
	var out issued
	r := request{method: http.MethodPost, base: s.Door, path: "/oauth2/token", form: url.Values{}, session: s.Session,
		key: s.Key}
	switch {
	case s.Session != "":
		r.form.Set("grant_type", "cookie")
		r.form.Set("scope", scopeAll) // a session's token may else only look
	case s.Refresh != "":
		r.form.Set("grant_type", "refresh_token")
		r.form.Set("refresh_token", s.Refresh)
	default:
		r.form.Set("grant_type", "client_credentials")
	}
	if s.Session == "" {
		r.client, r.secret = s.Client, s.Secret
	}
	if _, err := r.send(ctx, client, stepToken, &out); err != nil {
		return out, err
	}
	if out.Access == "" ||
		strings.ContainsFunc(out.Access+out.Refresh, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return out, errForeign
	}
	return out, nil
}

// ask reads the base address from clientSettings, for a service whose token answers leave it out.
func (s Saved) ask(ctx context.Context, client *http.Client) (string, error) {
	var settings struct {
		Base place `json:"httpsBaseUrl"`
	}
	_, err := request{method: http.MethodGet, base: s.Door, path: "/api/v3.0/clientSettings", bearer: s.Access}.
		send(ctx, client, stepToken, &settings)
	return settings.Base.address(s.Door), err
}
