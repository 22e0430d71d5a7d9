package discover

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what WS-Security's password digest is made with
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Credentials of a camera. Without a user name the camera is asked without signing in.
type Credentials struct{ User, Password string }

// SignInError says that the camera refuses the user name or the password, or wants some.
type SignInError struct {
	given bool
	clear bool // it takes the password in clear only
}

// Error says what to do.
func (e *SignInError) Error() string {
	if e.given && e.clear {
		return "the camera wants the password in clear (HTTP Basic), which everyone on the network could read; " +
			"switch its ONVIF or HTTP sign-in to digest"
	}
	if e.given {
		return "the camera refuses this user name and password for ONVIF; many cameras want ONVIF switched on, and a " +
			"user of its own for it, in their settings"
	}
	return "the camera wants a user name and a password"
}

// FaultError is a SOAP fault.
type FaultError struct{ Code, Reason string }

// Error is what the camera said.
func (e *FaultError) Error() string {
	return strings.TrimSpace("the camera answers: " + e.Reason + " (" + e.Code + ")")
}

const (
	maxAnswer   = 1 << 20
	answerTime  = 10 * time.Second
	soapHeading = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope">`
)

// client asks one camera. It is not safe for concurrent use.
type client struct {
	http  *http.Client
	who   Credentials
	ahead time.Duration // the camera's clock against ours
	close func()
}

func newClient(who Credentials) *client {
	base := &http.Transport{Proxy: nil, DisableKeepAlives: false, MaxResponseHeaderBytes: 32 << 10,
		ResponseHeaderTimeout: answerTime}
	c := &client{who: who, close: base.CloseIdleConnections}
	c.http = &http.Client{Transport: base, Timeout: answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if who.User != "" {
		c.http.Transport = signIn(who, base)
	}
	return c
}

// call sends a request's body to a service and reads the answer into out. signed says whether it
// needs to be signed in.
func (c *client) call(ctx context.Context, address, body string, signed bool, out any) error {
	message := soapHeading + c.header(signed) + "<s:Body>" + body + "</s:Body></s:Envelope>"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(message))
	if err != nil {
		return errors.New("the camera's address cannot be read")
	}
	req.Header.Set("Content-Type", "application/soap+xml; charset=utf-8")
	res, err := c.http.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err
		}
		return fmt.Errorf("ask the camera: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // nothing is written to it
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		_, err := findChallenge(res.Header) // its body may have been read already
		return &SignInError{given: c.who.User != "", clear: err != nil && res.Header.Get("WWW-Authenticate") != ""}
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return movedError(res)
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("read the camera's answer: %w", err)
	}
	if len(answer) > maxAnswer {
		return fmt.Errorf("read the camera's answer: it is larger than %d bytes", maxAnswer)
	}
	return c.read(res.StatusCode, answer, out)
}

// movedError says where a camera sends who asks it. It is not followed: the password would go
// along.
func movedError(res *http.Response) error {
	to, err := res.Location()
	if err != nil {
		return fmt.Errorf("the camera answers %d and not ONVIF, and does not say where to ask", res.StatusCode)
	}
	return fmt.Errorf("the camera answers %d and sends us to %s; if that is its own address, ask there", res.StatusCode,
		plain((&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()))
}

// read takes an answer: a fault, or what out describes.
func (c *client) read(status int, answer []byte, out any) error {
	var fault struct {
		XMLName xml.Name `xml:"Envelope"`
		Code    string   `xml:"Body>Fault>Code>Value"`
		Subcode string   `xml:"Body>Fault>Code>Subcode>Value"`
		Reason  string   `xml:"Body>Fault>Reason>Text"`
		// Of SOAP 1.1, which old makes speak.
		OldCode   string `xml:"Body>Fault>faultcode"`
		OldReason string `xml:"Body>Fault>faultstring"`
	}
	if err := decodeXML(answer, &fault); err != nil {
		if status != http.StatusOK {
			return fmt.Errorf("the camera answers %d, not ONVIF; is the address that of its ONVIF service?", status)
		}
		return errors.New("what answers does not speak ONVIF")
	}
	fault.Code, fault.Reason = cmp.Or(fault.Code, fault.OldCode), cmp.Or(fault.Reason, fault.OldReason)
	if fault.Code != "" || fault.Reason != "" || status != http.StatusOK {
		if strings.Contains(fault.Code+fault.Subcode+fault.Reason, "NotAuthorized") ||
			strings.Contains(strings.ToLower(fault.Reason), "not authorized") ||
			strings.Contains(fault.Code+fault.Subcode, "FailedAuthentication") {
			return &SignInError{given: c.who.User != ""}
		}
		return &FaultError{plain(strings.TrimSpace(fault.Code + " " + fault.Subcode)), plain(fault.Reason)}
	}
	if err := decodeXML(bytes.TrimSpace(answer), out); err != nil {
		return fmt.Errorf("read the camera's answer: %w", err)
	}
	return nil
}

// passwordDigest is base64(SHA-1(nonce + created + password)), by the Web Services Security
// UsernameToken Profile 1.0.
func passwordDigest(nonce []byte, created, password string) string {
	sum := sha1.Sum([]byte(string(nonce) + created + password)) //nolint:gosec // the profile's choice
	return base64.StdEncoding.EncodeToString(sum[:])
}

// header signs in by a UsernameToken, with the time that the camera thinks it is.
func (c *client) header(signed bool) string {
	if !signed || c.who.User == "" {
		return "<s:Header/>"
	}
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // never fails
	created := time.Now().Add(c.ahead).UTC().Format("2006-01-02T15:04:05.000Z")
	const wss = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
	return `<s:Header><w:Security s:mustUnderstand="true" xmlns:w="` + wss + `wssecurity-secext-1.0.xsd" xmlns:u="` +
		wss + `wssecurity-utility-1.0.xsd">` +
		`<w:UsernameToken><w:Username>` + escape(c.who.User) + `</w:Username>` +
		`<w:Password Type="` + wss + `username-token-profile-1.0#PasswordDigest">` + passwordDigest(nonce, created,
		c.who.Password) + `</w:Password>` +
		`<w:Nonce EncodingType="` + wss + `soap-message-security-1.0#Base64Binary">` +
		base64.StdEncoding.EncodeToString(nonce) + `</w:Nonce>` +
		`<u:Created>` + created + `</u:Created></w:UsernameToken></w:Security></s:Header>`
}
