package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/uplink/vms"
)

// Credentials give bearer tokens that have to be renewed. signin.Source is one. Safe for concurrent
// use.
type Credentials interface {
	// Token is a good token. refused is one that the service did not let in, "" for none.
	Token(ctx context.Context, refused string) (string, error)
	// Base is the service's address as far as it differs from Options.BaseURL, else "".
	Base() string
}

// Options of New. BaseURL and one of Token and Credentials are needed.
type Options struct {
	// BaseURL is the service's address, such as https://vms.example or http://127.0.0.1:8470. A
	// path before /api is kept.
	BaseURL string
	// Token reads the bearer token. It is called at the first request, and after a 401 in case it
	// has changed.
	Token func() (string, error)
	// Credentials stand in place of Token.
	Credentials Credentials
	// CAFile is a PEM file with the authorities to trust instead of the system's; "" for those.
	CAFile string
	// Fingerprint is the SHA-256 of the one certificate to trust, 64 hex digits with or without
	// colons; "" for any that an authority vouches for.
	Fingerprint string
	// HTTP replaces the client's own transport and limits. CAFile and Fingerprint are then not
	// looked at. No redirect to another host is followed either way.
	HTTP *http.Client
	// Wrap is given the transport, unless HTTP is set, and gives the one to use. Nil: that one
	// itself.
	Wrap      func(http.RoundTripper) http.RoundTripper
	UserAgent string
	// Timeout bounds a request from dialling to the last byte; 0 means 30 s.
	Timeout time.Duration
	Log     *slog.Logger // nil: nothing is logged
}

// Client is safe for concurrent use.
type Client struct {
	base    string
	http    *http.Client
	agent   string
	timeout time.Duration
	log     *slog.Logger
	read    func() (string, error)
	coding  coding
	// credentials are in place of read, nil for that
	credentials Credentials
	batch       batchSize
	said        atomic.Pointer[Said]

	mu    sync.Mutex // guards token
	token string
}

// Limits of what is read of an answer.
const (
	maxAnswerBytes = 8 << 20 // a list
	maxReplyBytes  = 1 << 20 // to what is reported: an event, of 512 KiB at most, or a word on each of several
	maxImageBytes  = 64 << 20
)

// New makes a client. It does no I/O but reading CAFile.
func New(o Options) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		// Not with the address itself: somebody may have put a password into it.
		return nil,
			errors.New("the service's address must look like https://host or http://host:port, without user name " +
				"or query")
	}
	if o.Token == nil && o.Credentials == nil {
		return nil, errors.New("make client: Token or Credentials are needed")
	}
	c := &Client{base: u.String(), agent: o.UserAgent, timeout: o.Timeout, log: o.Log, read: o.Token,
		credentials: o.Credentials}
	if c.timeout == 0 {
		c.timeout = 30 * time.Second
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.http = &http.Client{}
	if o.HTTP != nil {
		*c.http = *o.HTTP
	} else {
		t, err := transport(o, c.timeout)
		if err != nil {
			return nil, err
		}
		c.http.Transport = t
		if o.Wrap != nil {
			c.http.Transport = o.Wrap(t)
		}
	}
	c.http.CheckRedirect = withinHost
	return c, nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// HTTP is a client with the way that this one goes (authorities, pin, proxy), but without its limit
// on time, for a connection that lasts. It follows no redirect to another host. Close closes its
// idle connections too.
func (c *Client) HTTP() *http.Client {
	return &http.Client{Transport: c.http.Transport, CheckRedirect: c.http.CheckRedirect}
}

// byteOrderMark is put before JSON by some makers of it; RFC 8259 §8.1 lets readers pass over it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// answer is a response whose body is read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request and reads the answer. After a 401 it reads the token again, and tries once
// more if it changed. body nil means none. Every answer that is no 2xx is an error of classify.
func (c *Client) call(ctx context.Context, method, path string, body []byte, limit int64) (answer, error) {
	return c.callWith(ctx, nil, method, path, body, limit)
}

// callWith is call with more headers.
func (c *Client) callWith(ctx context.Context, header http.Header, method, path string, body []byte,
	limit int64) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	token, err := c.Bearer(ctx, "")
	if err != nil {
		return answer{}, err
	}
	a, err := c.send(ctx, header, method, path, body, limit, token)
	if err != nil || a.status != http.StatusUnauthorized {
		return a, errors.Join(err, classify(c.base, a, err))
	}
	again, err := c.Bearer(ctx, token)
	if err != nil {
		return answer{}, err
	}
	if again == token {
		return a, classify(c.base, a, nil)
	}
	a, err = c.send(ctx, header, method, path, body, limit, again)
	return a, errors.Join(err, classify(c.base, a, err))
}

// send sends a request, packed if the service takes it so.
func (c *Client) send(ctx context.Context, header http.Header, method, path string, body []byte, limit int64,
	token string) (answer, error) {
	packed, encoding := c.coding.pack(body)
	a, err := c.exchange(ctx, header, method, path, packed, encoding, limit, token)
	if err == nil && !spoken(a) {
		// What answers is not the service: the name may lead elsewhere by now, and the connection
		// to where it led before.
		defer c.http.CloseIdleConnections()
	}
	if err == nil && encoding != "" && c.coding.misunderstood(a.status) {
		return c.exchange(ctx, header, method, path, body, "", limit, token)
	}
	return a, err
}

// exchange is one request and its answer. encoding is that of the body.
func (c *Client) exchange(ctx context.Context, header http.Header, method, path string, body []byte, encoding string,
	limit int64, token string) (answer, error) {
	res, err := c.open(ctx, header, method, path, body, encoding, token)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end, or of no use any more
	return c.whole(res, limit)
}

// open is one request and the beginning of its answer.
func (c *Client) open(ctx context.Context, header http.Header, method, path string, body []byte, encoding string,
	token string) (*http.Response, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base()+path, reader)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	if strings.HasSuffix(req.URL.Path, ".jpeg") {
		req.Header.Set("Accept", "image/jpeg, application/json")
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	if c.agent != "" {
		req.Header.Set("User-Agent", c.agent)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, transportError(err)
	}
	return res, nil
}

// whole reads an answer, of so many bytes at most.
func (c *Client) whole(res *http.Response, limit int64) (answer, error) {
	data, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return answer{}, transportError(err)
	}
	if int64(len(data)) > limit {
		return answer{},
			&vms.TransientError{Code: res.StatusCode, Err: fmt.Errorf("the answer is larger than %d bytes", limit)}
	}
	c.coding.learn(res.Header)
	data = bytes.TrimPrefix(data, byteOrderMark)
	return answer{res.StatusCode, res.Header, data}, nil
}

// Base is the service's address as it is now.
func (c *Client) Base() string {
	if c.credentials != nil {
		if base := c.credentials.Base(); base != "" {
			return base
		}
	}
	return c.base
}

// Bearer is the token in use, another one if that is the one that the service refused; "" for none.
func (c *Client) Bearer(ctx context.Context, refused string) (string, error) {
	if c.credentials != nil {
		return c.credentials.Token(ctx, refused)
	}
	return c.tokenAfter(refused)
}

// tokenAfter is the token in use. If that is refused, the token that the service did not let in, it
// is read anew, once for all requests that were refused with it.
func (c *Client) tokenAfter(refused string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" && c.token != refused {
		return c.token, nil
	}
	token, err := c.read()
	if err != nil {
		return "", &vms.UnauthorizedError{Message: fmt.Sprintf("the token cannot be read: %v", err)}
	}
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", &vms.UnauthorizedError{Message: "the token is empty or holds characters that no token has: " +
			"put it alone into its file"}
	}
	if refused != "" && token != refused {
		c.log.Info("the token was read again after a 401")
	}
	c.token = token
	return token, nil
}

// TokenFile reads the token from a file, again whenever the service refuses the one it has.
func TokenFile(path string) func() (string, error) {
	return func() (string, error) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read token: %w", err)
		}
		return string(raw), nil
	}
}

// Token is a token that never changes.
func Token(token string) func() (string, error) {
	return func() (string, error) { return token, nil }
}

// decode reads an answer's JSON into v.
func decode(a answer, v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return &vms.TransientError{Code: a.status,
			Err: fmt.Errorf("the answer is not the service's: %s instead of JSON", describe(a))}
	}
	return nil
}
