package main

import (
	"context"
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
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// Limits of fetching images from bridges.
const (
	maxImageBytes    = 32 << 20
	maxImageTime     = 30 * time.Second
	maxPerBridge     = 8
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
	br, tunnelled, err := b.bridgeOf(q.Account, q.Camera)
	if err != nil {
		return server.Image{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxImageTime)
	done := func() { cancel(); b.leave(br.Key()) }
	var still client.Still
	err = b.ask(ctx, tunnelled, br, q.Camera, func(c *client.Client) (err error) {
		still, err = c.OpenImage(ctx, q.Camera, q.Kind, q.Op, q.Time, q.Known)
		return err
	})
	if err == nil && still.Length > maxImageBytes {
		err = errors.Join(fmt.Errorf("its image has %d bytes, more than %d", still.Length, maxImageBytes),
			still.Body.Close())
	}
	if err != nil {
		done()
		return server.Image{}, b.answer(br, q.Camera, err)
	}
	return server.Image{Time: still.Time, Length: still.Length,
		Body: &closeBoth{&limited{still.Body, maxImageBytes}, still.Body, done}}, nil
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

// ask asks through the tunnel, and at the bridge's address if there is no tunnel or it turns out to
// be dead.
func (b *bridgeImages) ask(ctx context.Context, tunnelled *http.Client, br registry.Bridge, camera string,
	question func(*client.Client) error) (err error) {
	try := func(way *http.Client, base string) error {
		c, err := client.New(client.Options{BaseURL: base, Token: client.Token(br.Token), HTTP: way})
		if err != nil {
			return err
		}
		return question(c)
	}
	if tunnelled != nil {
		err = try(tunnelled, inTunnel)
	}
	dead := (*vms.TransientError)(nil)
	if tunnelled == nil || errors.As(err, &dead) && dead.Code == 0 && br.Address != "" && ctx.Err() == nil {
		err = try(b.http, br.Address)
	}
	return refusal(err, camera)
}

// refusal passes a bridge's 404 on. One that is not about images means that the address is not that
// of a bridge.
func refusal(err error, camera string) error {
	var refused *vms.RefusedError
	var unauthorized *vms.UnauthorizedError
	var transient *vms.TransientError
	switch {
	case errors.As(err, &refused) && refused.Code == http.StatusNotFound && refused.Reason != vms.ReasonEndpoint:
		message := []rune(printable(refused.Message))
		return vms.NotFound("images", string(message[:min(len(message), maxRefusalLength)]), camera)
	case errors.As(err, &refused):
		return fmt.Errorf("it answers %d; is its registered address right?", refused.Code)
	case errors.As(err, &unauthorized):
		return errors.New("it refuses the token that it registered; it renews that within a minute")
	case errors.As(err, &transient):
		return fmt.Errorf("ask it: %w", transient.Err)
	}
	return err
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
	io.Reader
	body io.Closer
	done func()
}

func (c *closeBoth) Close() error {
	err := c.body.Close()
	c.done()
	return err
}
