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

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

const (
	// lanes is how many actors are served at once, and turn how many events of one before others
	// get theirs.
	lanes, turn  = 4, 16
	maxRedirects = 3
	maxReason    = 200       // characters of an answer that are shown
	maxAnswer    = 64 << 10  // bytes of an answer that are read, so that the connection can be used again
	maxAsked     = time.Hour // that Retry-After can make a hook wait
)

// newClient follows a redirect only where the request stays what it is and goes to the same place.
func newClient(o Options) (*http.Client, error) {
	tlsConfig, err := delivery.Trust(o.CAFile, o.Fingerprint)
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.OnProxyConnectResponse = delivery.ProxyAnswer
	if o.Dial != nil {
		t.Proxy, t.DialContext = nil, o.Dial
	}
	// else a dead connection is used on
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: o.Timeout / 2, PingTimeout: o.Timeout / 3}
	t.TLSClientConfig, t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes = tlsConfig, lanes, lanes, 64<<10
	return &http.Client{Transport: t, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		from := via[0]
		if len(via) > maxRedirects || r.Method != from.Method || r.URL.Scheme != from.URL.Scheme ||
			r.URL.Host != from.URL.Host || r.URL.User != nil {
			return http.ErrUseLastResponse
		}
		return nil
	}}, nil
}

// Send is for delivery.Sink.
func (h *Hook) Send(ctx context.Context, list []vms.Queued) (verdicts []delivery.Verdict) {
	for _, q := range list {
		v := h.post(ctx, q)
		if verdicts = append(verdicts, v); !v.Kind.Done() {
			break
		}
	}
	return verdicts
}

// post makes one attempt to hand an event over.
func (h *Hook) post(ctx context.Context, q vms.Queued) delivery.Verdict {
	ev := q.Event
	if h.opts.Choose != nil {
		var ok bool
		var err error
		if ev, ok, err = h.opts.Choose(ev); err != nil {
			return delivery.Verdict{Kind: delivery.OfSink, Err: fmt.Errorf("find out what the hook may see: %w", err)}
		}
		if !ok {
			return delivery.Verdict{Kind: delivery.Passed}
		}
	}
	if h.opts.Show != nil {
		ev = h.opts.Show(ev)
	}
	body, err := json.Marshal(ev)
	if err != nil {
		return delivery.Verdict{Kind: delivery.Refused, Err: err}
	}
	secret, err := h.opts.Secret()
	if err != nil {
		return h.setup(fmt.Errorf("read the hook's secret: %w", err))
	}
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.opts.URL, bytes.NewReader(body))
	if err != nil {
		return h.setup(bare(err))
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", h.opts.UserAgent)
	if h.opts.Bridge != "" {
		r.Header.Set(HeaderBridge, h.opts.Bridge)
	}
	r.Header.Set(HeaderType, plain(ev.Type))
	r.Header.Set(HeaderKey, plain(ev.ID)+"."+strconv.FormatUint(q.Place, 10))
	r.Header.Set(HeaderSignature, Sign(secret, time.Now(), body))
	a, err := h.http.Do(r)
	if err != nil {
		return h.away(bare(err))
	}
	defer a.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(a.Body, maxAnswer))
	return h.judge(a, shown(string(text), secret))
}

// judge says what an answer means. 409 is later, as a receiver says so while it is at work on a
// request with the same Idempotency-Key.
func (h *Hook) judge(a *http.Response, text string) delivery.Verdict {
	err := fmt.Errorf("the hook answers %d", a.StatusCode)
	if text != "" {
		err = fmt.Errorf("the hook answers %d: %s", a.StatusCode, text)
	}
	v := delivery.Verdict{Err: err, After: vms.RetryAfter(a.Header, time.Now(), maxAsked),
		Hint: "the webhook " + h.opts.ID + " does not take events at the moment; they wait"}
	switch code := a.StatusCode; {
	case code/100 == 2:
		return delivery.Verdict{Kind: delivery.Taken}
	case code/100 == 3:
		return h.setup(fmt.Errorf("the hook answers %d, a redirect that is not followed", code))
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound,
		code == http.StatusMethodNotAllowed,
		code == http.StatusProxyAuthRequired, code == http.StatusGone:
		s := h.setup(err)
		s.After = v.After
		return s
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable,
		code == http.StatusGatewayTimeout:
		v.Kind = delivery.OfSink
	case code == http.StatusRequestTimeout, code == http.StatusConflict, code == http.StatusTooEarly, code/100 != 4:
		v.Kind = delivery.OfEvent
	default:
		v.Kind = delivery.Refused
	}
	return v
}

// setup is the verdict where everything waits until a person has put the hook's address or secret
// right.
func (h *Hook) setup(err error) delivery.Verdict {
	return delivery.Verdict{Kind: delivery.OfSink, Err: err,
		Hint: "the webhook " + h.opts.ID + " turns the bridge away: are its address and secret right?"}
}

// away is the verdict where no answer came.
func (h *Hook) away(err error) delivery.Verdict {
	v := delivery.Verdict{Kind: delivery.OfSink, Err: err, Hint: "the webhook " + h.opts.ID +
		" cannot be reached; its events wait"}
	if delivery.Untrusted(err) {
		v.Hint = "the certificate of the webhook " + h.opts.ID + " is not trusted: set its ca_file or tls_fingerprint"
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

// shown is the beginning of an answer on one line, without the secret if the hook was so careless
// as to repeat it.
func shown(text, secret string) string {
	text = strings.ReplaceAll(text, secret, "***")
	text = strings.Join(strings.FieldsFunc(text,
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(text); len(r) > maxReason {
		text = string(r[:maxReason]) + "…"
	}
	return text
}
