package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Door is where people sign in: the two steps of the identity document, with a code between them
// where one is needed.
type Door struct {
	// URL is the service's address, such as https://vms.example.
	URL string
	// Key is the API key, "" for none.
	Key string
	// Device is the cookie tfa_key of a former sign-in with a code, "" for none: a device that is
	// trusted needs no code.
	Device string
	// HTTP asks; it must not follow redirects to another host. client.Client.HTTP is one.
	HTTP *http.Client
}

// Limits of an exchange.
const (
	doorTime  = 30 * time.Second
	maxAnswer = 1 << 20
)

// Ways are the ways in which a code can be sent, with what is known of where it goes: a masked
// number, a masked address.
type Ways struct {
	SMS  string `json:"sms"`
	Mail string `json:"email"`
}

// The names of the ways in a request.
const (
	WaySMS  = "sms"
	WayMail = "email"
)

// Challenge is what the first step gives. Ways is nil if Authorize needs no code.
type Challenge struct {
	Token string `json:"token"`
	Ways  *Ways  `json:"two_factor_authentication_code"`
}

// Authenticate is the first step. Errors of the service are *Refusal.
func (d Door) Authenticate(ctx context.Context, user, password string) (Challenge, error) {
	var c Challenge
	_, err := d.post(ctx, stepPassword, "/g/aaa/authenticate",
		map[string]string{"username": user, "password": password}, &c)
	if err == nil && c.Token == "" {
		err = errForeign
	}
	return c, err
}

// SendCode has a code sent, one of the ways.
func (d Door) SendCode(ctx context.Context, token, way string) error {
	_, err := d.post(ctx, stepCode, "/g/aaa/two_factor_authenticate",
		map[string]string{"token": token, "two_factor_authentication_type": way}, nil)
	return err
}

// Authorize is the last step; code is "" where none is needed. What it returns is to be kept. A
// code that is wrong may be followed by another with the same token; after too many the user is
// locked.
func (d Door) Authorize(ctx context.Context, token, code string) (Saved, error) {
	in := map[string]string{"token": token}
	if code != "" {
		in["two_factor_authentication_code"] = code
	}
	var user struct {
		Email string `json:"email"`
		Brand string `json:"active_brand_subdomain"`
	}
	cookies, err := d.post(ctx, stepOpen, "/g/aaa/authorize", in, &user)
	if err != nil {
		return Saved{}, err
	}
	s := Saved{Door: d.URL, User: user.Email, Key: d.Key, Device: d.Device}
	for _, c := range cookies {
		switch c.Name {
		case "auth_key":
			s.Session = c.Value
		case "tfa_key":
			s.Device = c.Value
		}
	}
	if s.Session == "" {
		return Saved{}, errForeign
	}
	if branded := brandedHost(d.URL, user.Brand); branded != "" && d.knows(ctx, branded, s.Session) {
		s.Door = branded
	}
	return s, nil
}

var errForeign = errors.New("what answers is not the service's sign-in: is service.url right, and nothing in between?")

// post sends a JSON body and reads the answer into out, which may be nil.
func (d Door) post(ctx context.Context, at step, path string, in, out any) ([]*http.Cookie, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, doorTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(d.URL, "/")+path,
		bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("the service's address must look like https://host")
	}
	req.Header.Set("Content-Type", "application/json")
	if d.Key != "" {
		req.Header.Set("Authentication", d.Key)
	}
	if d.Device != "" {
		req.AddCookie(&http.Cookie{Name: "tfa_key", Value: d.Device})
	}
	return exchange(d.HTTP, req, at, out)
}

// exchange sends a request and reads a JSON answer. An answer with a status that is not 2xx is a
// *Refusal; so is a redirect that is not followed.
func exchange(client *http.Client, req *http.Request, at step, out any) (cookies []*http.Cookie, err error) {
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // its text holds the address, and somebody may have put a secret there
		}
		return nil, fmt.Errorf("ask the service to sign in: %w", err)
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("ask the service to sign in: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return nil, refusal(at, res, body)
	}
	if out != nil && json.Unmarshal(body, out) != nil {
		return nil, errForeign
	}
	return res.Cookies(), nil
}

// Lasting makes of a session, which ends some hours later at many a service, a client of the
// bridge's own (OAuth 2.0), which lasts until somebody revokes it. name is what it is called in the
// account's list of clients. Errors of the service are *Refusal: 404 where it has no such thing,
// 403 where the user may not.
func (d Door) Lasting(ctx context.Context, s Saved, name string) (Saved, error) {
	raw, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, doorTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.Door, "/")+"/oauth2/clients",
		bytes.NewReader(raw))
	if err != nil {
		return s, errForeign
	}
	req.Header.Set("Content-Type", "application/json")
	req.AddCookie(&http.Cookie{Name: "auth_key", Value: s.Session})
	if d.Key != "" {
		req.Header.Set("Authentication", d.Key)
	}
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if _, err := exchange(d.HTTP, req, stepOpen, &made); err != nil {
		return s, err
	}
	if made.ID == "" || made.Secret == "" {
		return s, errForeign
	}
	s.Client, s.Secret, s.Session = made.ID, made.Secret, ""
	return s, nil
}

// End ends a client that Lasting made before, with all that it got. s is a sign-in with a session.
// Errors of the service are *Refusal.
func (d Door) End(ctx context.Context, s Saved, client string) error {
	ctx, cancel := context.WithTimeout(ctx, doorTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete,
		strings.TrimRight(s.Door, "/")+"/oauth2/clients?id="+url.QueryEscape(client), nil)
	if err != nil {
		return errForeign
	}
	req.AddCookie(&http.Cookie{Name: "auth_key", Value: s.Session})
	if d.Key != "" {
		req.Header.Set("Authentication", d.Key)
	}
	_, err = exchange(d.HTTP, req, stepOpen, nil)
	return err
}
