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
	return request{method: http.MethodPost, base: d.URL, path: path, json: in, key: d.Key, device: d.Device}.
		send(ctx, d.HTTP, at, out)
}

// request is one to the service. What is empty is left out.
type request struct {
	method, base, path string
	json               any        // its body
	form               url.Values // its body, in place of JSON
	key                string     // of the API
	session, device    string     // cookies
	bearer             string
	client, secret     string // HTTP's basic authentication, RFC 6749 §2.3.1
}

// send sends a request and reads a JSON answer. An answer with a status that is not 2xx is a
// *Refusal; so is a redirect that is not followed.
func (r request) send(ctx context.Context, client *http.Client, at step, out any) (cookies []*http.Cookie,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, doorTime)
	defer cancel()
	body, kind := []byte(r.form.Encode()), "application/x-www-form-urlencoded"
	if r.json != nil {
		kind = "application/json"
		if body, err = json.Marshal(r.json); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, strings.TrimRight(r.base, "/")+r.path,
		bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the service's sign-in must look like https://host")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	for name, value := range map[string]string{"auth_key": r.session, "tfa_key": r.device} {
		if value != "" {
			req.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	if r.key != "" {
		req.Header.Set("Authentication", r.key)
	}
	if r.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.bearer)
	}
	if r.client != "" {
		req.SetBasicAuth(url.QueryEscape(r.client), url.QueryEscape(r.secret))
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // its text holds the address, and somebody may have put a secret there
		}
		return nil, fmt.Errorf("ask the service to sign in: %w", err)
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
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
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	_, err := request{method: http.MethodPost, base: s.Door, path: "/oauth2/clients",
		json: map[string]string{"name": name}, session: s.Session, key: d.Key}.send(ctx, d.HTTP, stepOpen, &made)
	if err != nil {
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
	_, err := request{method: http.MethodDelete, base: s.Door, path: "/oauth2/clients?id=" + url.QueryEscape(client),
		session: s.Session, key: d.Key}.send(ctx, d.HTTP, stepOpen, nil)
	return err
}
