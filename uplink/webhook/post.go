package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"vmsbridge/uplink/home"
	"vmsbridge/uplink/trust"
	"vmsbridge/uplink/vms"
)

const (
	maxRedirects = 3
	maxReason    = 200       // characters of an answer that are shown
	maxAnswer    = 64 << 10  // bytes of an answer that are read, so that the connection can be used again
	maxAsked     = time.Hour // that Retry-After can make a hook wait
)

// kind says what follows from an answer.
type kind int

const (
	taken   kind = iota
	refused      // this event, for good
	ofEvent      // later; the events of this actor wait
	ofHook       // later; everything waits
	ofSetup      // everything waits until a person has put it right
)

// verdict is what an attempt came to.
type verdict struct {
	kind   kind
	err    error // why not taken; holds neither the hook's path nor its secret
	asked  time.Duration
	answer bool // the hook answered
}

// newClient follows a redirect only where the request stays what it is and goes to the same place.
func newClient(o Options) (*http.Client, error) {
	tlsConfig, err := trust.New(o.CAFile, o.Fingerprint)
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.OnProxyConnectResponse = trust.ProxyAnswer
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: o.Timeout / 2, PingTimeout: o.Timeout / 3} // else a dead connection is used on
	t.TLSClientConfig, t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes = tlsConfig, lanes, lanes, 64<<10
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		from := via[0]
		if len(via) > maxRedirects || r.Method != from.Method || r.URL.Scheme != from.URL.Scheme || r.URL.Host != from.URL.Host || r.URL.User != nil {
			return http.ErrUseLastResponse
		}
		return nil
	}}, nil
}

// post makes one attempt to hand an event over.
func (h *Hook) post(ctx context.Context, c home.Change) verdict {
	body, err := json.Marshal(c.Event)
	if err != nil {
		return verdict{kind: refused, err: err}
	}
	secret, err := h.opts.Secret()
	if err != nil {
		return verdict{kind: ofSetup, err: fmt.Errorf("read the hook's secret: %w", err)}
	}
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.opts.URL, bytes.NewReader(body))
	if err != nil {
		return verdict{kind: ofSetup, err: bare(err)}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", h.opts.UserAgent)
	r.Header.Set(HeaderBridge, h.opts.Bridge)
	r.Header.Set(HeaderType, plain(c.Event.Type))
	r.Header.Set(HeaderKey, plain(c.Event.ID)+"."+strconv.FormatUint(c.Place, 10))
	r.Header.Set(HeaderSignature, Sign(secret, time.Now(), body))
	a, err := h.http.Do(r)
	if err != nil {
		return verdict{kind: ofHook, err: bare(err)}
	}
	defer a.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	return judge(a, shown(string(text), secret))
}

// judge says what an answer means.
func judge(a *http.Response, text string) verdict {
	v := verdict{answer: true, asked: vms.RetryAfter(a.Header, time.Now(), maxAsked), err: fmt.Errorf("the hook answers %d", a.StatusCode)}
	if text != "" {
		v.err = fmt.Errorf("the hook answers %d: %s", a.StatusCode, text)
	}
	switch code := a.StatusCode; {
	case code/100 == 2:
		return verdict{kind: taken, answer: true}
	case code/100 == 3:
		v.kind, v.err = ofSetup, fmt.Errorf("the hook answers %d, a redirect that is not followed", code)
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusMethodNotAllowed,
		code == http.StatusProxyAuthRequired, code == http.StatusGone:
		v.kind = ofSetup
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		v.kind = ofHook
	case code == http.StatusRequestTimeout, code == http.StatusConflict, code == http.StatusTooEarly, code/100 != 4:
		v.kind = ofEvent
	default:
		v.kind = refused
	}
	return v
}

// bare is an error without the address, which may hold a secret of its own.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// plain is text that may stand in a header.
func plain(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return url.PathEscape(s)
	}
	return s
}

// shown is the beginning of an answer on one line, without the secret if the hook was so careless as to repeat it.
func shown(text, secret string) string {
	text = strings.ReplaceAll(text, secret, "***")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(text); len(r) > maxReason {
		text = string(r[:maxReason]) + "…"
	}
	return text
}
