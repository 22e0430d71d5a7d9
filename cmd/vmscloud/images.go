package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// Limits of fetching images from bridges.
const (
	maxImageBytes    = 32 << 20
	maxImageTime     = 30 * time.Second
	maxPerBridge     = 8
	maxRefusalBytes  = 64 << 10
	maxRefusalLength = 300
)

// bridgeImages fetches stills from the bridges that have them: through their tunnels, else at the
// addresses that they registered, where the operator allows that.
type bridgeImages struct {
	registry *registry.Registry
	hub      *tunnel.Hub
	direct   direct
	http     *http.Client
	log      *slog.Logger

	mu   sync.Mutex // guards busy
	busy map[string]int
}

func newBridgeImages(r *registry.Registry, hub *tunnel.Hub, at direct, log *slog.Logger) *bridgeImages {
	return &bridgeImages{registry: r, hub: hub, direct: at, log: log, busy: map[string]int{}, http: &http.Client{
		// A bridge that redirects would have its token, and a request of ours, sent to wherever it
		// likes.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // bridges are asked directly
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second, Control: at.control}).DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			ResponseHeaderTimeout:  15 * time.Second,
			IdleConnTimeout:        time.Minute,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: 32 << 10,
		},
	}}
}

// bridgeOf is the bridge of a camera, and the client for its tunnel, nil if it has none and is to
// be asked at its address. It takes one of the bridge's places for requests, which leave gives
// back, if there is no error.
func (b *bridgeImages) bridgeOf(account, camera string) (br registry.Bridge, tunnelled *http.Client, err error) {
	_, br, ok := b.registry.Camera(account, camera)
	if !ok {
		return br, nil, vms.NotFound("cameras", "", camera)
	}
	if len(b.direct) == 0 {
		br.Address = ""
	}
	tunnelled = b.through(br.Key())
	if tunnelled == nil && br.Address == "" {
		return br, nil,
			away("The bridge of this camera is away: it has no tunnel, and no address at which it may be asked")
	}
	if !b.enter(br.Key()) {
		return br, nil,
			vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany,
				"Too many images are being fetched from this bridge")
	}
	return br, tunnelled, nil
}

// answer is what a caller is told of an error in asking a bridge.
func (b *bridgeImages) answer(br registry.Bridge, camera string, err error) error {
	var answer *vms.Error
	if errors.As(err, &answer) {
		return answer
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its text holds the whole address
	}
	b.log.Warn("a bridge could not be asked for an image", "bridge", br.Key(), "camera", camera, "error", err)
	return away("The bridge of this camera does not answer at the moment")
}

// Image asks the camera's bridge. Its 404 is passed on with its reason; if it cannot be asked, that
// is a 503.
func (b *bridgeImages) Image(ctx context.Context, q server.ImageQuery) (server.Image, error) {
	br, client, err := b.bridgeOf(q.Account, q.Camera)
	if err != nil {
		return server.Image{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxImageTime)
	done := func() { cancel(); b.leave(br.Key()) }
	img, err := b.fetch(ctx, client, br, q)
	if err != nil {
		done()
		return server.Image{}, b.answer(br, q.Camera, err)
	}
	img.Body = &closeBoth{img.Body, done}
	return img, nil
}

func away(message string) error {
	return vms.NewError(http.StatusServiceUnavailable, vms.ReasonDeviceUnavailable, message)
}

func (b *bridgeImages) enter(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy[id] >= maxPerBridge {
		return false
	}
	b.busy[id]++
	return true
}

func (b *bridgeImages) leave(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy[id]--; b.busy[id] <= 0 {
		delete(b.busy, id)
	}
}

// fetch asks for an image.
func (b *bridgeImages) fetch(ctx context.Context, tunnelled *http.Client, br registry.Bridge,
	q server.ImageQuery) (server.Image, error) {
	res, err := b.ask(ctx, tunnelled, br, q.Camera, vms.ImageURL("", q.Camera, q.Kind, q.Op, q.Time))
	if err != nil {
		return server.Image{}, err
	}
	img, err := readImage(res, q.Camera)
	if err != nil {
		return img, errors.Join(err, res.Body.Close())
	}
	return img, nil
}

// ask asks through the tunnel, and at the bridge's address if there is no tunnel or it turns out to
// be dead. path has the query.
func (b *bridgeImages) ask(ctx context.Context, tunnelled *http.Client, br registry.Bridge, camera,
	path string) (res *http.Response, err error) {
	get := func(client *http.Client, base string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+br.Token)
		req.Header.Set(vms.HeaderCamera, camera)
		return client.Do(req)
	}
	if tunnelled != nil {
		res, err = get(tunnelled, inTunnel)
	}
	if tunnelled == nil || err != nil && br.Address != "" && ctx.Err() == nil {
		res, err = get(b.http, br.Address)
	}
	return res, err
}

// readImage checks what a bridge answered. It reads no more than it needs to know that this is a
// JPEG; the rest is streamed, up to maxImageBytes.
func readImage(res *http.Response, camera string) (server.Image, error) {
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return server.Image{}, refusal(res, camera)
	case http.StatusUnauthorized:
		return server.Image{}, errors.New("it refuses the token that it registered; it renews that within a minute")
	default:
		return server.Image{}, fmt.Errorf("it answers %d", res.StatusCode)
	}
	if res.ContentLength > maxImageBytes {
		return server.Image{}, fmt.Errorf("its image has %d bytes, more than %d", res.ContentLength, maxImageBytes)
	}
	at, err := vms.ParseTime(res.Header.Get("X-Vms-" + vms.HeaderTimestamp))
	if err != nil {
		return server.Image{}, errors.New("its image comes without a time")
	}
	body := bufio.NewReader(&limited{res.Body, maxImageBytes})
	if head, err := body.Peek(3); err != nil || string(head) != "\xff\xd8\xff" {
		return server.Image{}, errors.New("what it sends is not a JPEG")
	}
	return server.Image{Time: at.Time, Length: res.ContentLength, Body: struct {
		io.Reader
		io.Closer
	}{body, res.Body}}, nil
}

// refusal passes a bridge's 404 on. One that is not about images means that the address is not that
// of a bridge.
func refusal(res *http.Response, camera string) error {
	var e vms.Error
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxRefusalBytes))
	if err != nil {
		return err
	}
	if json.Unmarshal(raw, &e) != nil || e.Code != http.StatusNotFound || e.Reason() == vms.ReasonEndpoint {
		return errors.New("it does not know images; is its registered address right?")
	}
	message := []rune(printable(e.Message))
	return vms.NotFound("images", string(message[:min(len(message), maxRefusalLength)]), camera)
}

// limited fails, rather than ends, when more than n bytes come: half an image must not look whole.
type limited struct {
	r io.Reader
	n int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.n <= 0 {
		return 0, errors.New("the image is too large")
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.n)])
	l.n -= int64(n)
	return n, err
}

// closeBoth closes a body and then lets go of what its request held.
type closeBoth struct {
	io.ReadCloser
	done func()
}

func (c *closeBoth) Close() error {
	err := c.ReadCloser.Close()
	c.done()
	return err
}
