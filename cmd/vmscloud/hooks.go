package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
	"vmsbridge/uplink/webhook"
)

// targets are where webhooks of subscriptions may go: hosts by name, and addresses in ranges, which
// the operator names. A caller chooses the address, so without that the service would send to
// whatever it can reach.
type targets struct {
	names  []string
	ranges direct
}

// newTargets reads --webhook-target.
func newTargets(list []string) (t targets, err error) {
	for _, text := range list {
		name := strings.ToLower(strings.TrimSuffix(text, "."))
		if _, addressErr := netip.ParseAddr(text); addressErr == nil || strings.Contains(text, "/") {
			p, err := prefixes("--webhook-target", []string{text})
			if err != nil {
				return t, err
			}
			t.ranges = append(t.ranges, p...)
		} else if name == "" || strings.ContainsAny(name, " :*@?#") {
			return t,
				fmt.Errorf("--webhook-target: %q is neither the name of a host, such as hooks.example.org, nor an "+
					"address or range, such as 10.0.0.0/8", text)
		} else {
			t.names = append(t.names, name)
		}
	}
	return t, nil
}

// names says whether a host is named.
func (t targets) has(host string) bool {
	return slices.Contains(t.names, strings.ToLower(strings.TrimSuffix(host, ".")))
}

// dial connects to a target. Where a name leads to is looked at when it is known: never to where no
// target can be.
func (t targets) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	named := t.has(host)
	d := net.Dialer{Timeout: 5 * time.Second, Control: func(network, address string, c syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		ip := ap.Addr().Unmap().WithZone("")
		if named && !slices.ContainsFunc(never, func(p netip.Prefix) bool { return p.Contains(ip) }) &&
			(!compatible.Contains(ip) || ip == netip.IPv6Loopback()) {
			return nil
		}
		if t.ranges.allows(ap.Addr()) != nil {
			return errTarget
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

var errTarget = errors.New("the address is none that this service may send events to")

// hooks deliver the events of subscriptions with a webhook, each by a cursor of its own.
type hooks struct {
	followers *followers
	targets   targets
	ids       *store.Store
	log       *slog.Logger

	mu      sync.Mutex // guards what follows
	running map[string]running
	closed  bool
}

type running struct {
	stop context.CancelFunc
	done chan struct{}
}

var _ server.Webhooks = &hooks{}

// What a hook may be behind before the oldest events are left out for it.
var hookCaps = delivery.Caps{Events: 100_000, Age: 7 * 24 * time.Hour}

// consentTime bounds asking an address whether it agrees.
const consentTime = 10 * time.Second

// Admit asks the address for a word that only its owner can repeat.
func (h *hooks) Admit(ctx context.Context, target string) error {
	refuse := func(text string) error {
		return vms.BadRequest([]vms.Problem{{Argument: "deliveryConfig.webhookUrl", Reason: vms.ReasonValue,
			Text: text}})
	}
	u, err := url.Parse(target)
	if err != nil {
		return refuse("is no address")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && h.targets.ranges.allows(ip) != nil || err != nil &&
		!h.targets.has(u.Hostname()) && len(h.targets.ranges) == 0 {
		return refuse("is none that this service may send events to; its operator can allow it with vmscloud run " +
			"--webhook-target HOST")
	}
	word := rand.Text()
	q := u.Query()
	q.Set("token", word)
	u.RawQuery = q.Encode()
	ctx, cancel := context.WithTimeout(ctx, consentTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return refuse("is no address")
	}
	c := http.Client{Transport: &http.Transport{DialContext: h.targets.dial, DisableKeepAlives: true,
		MaxResponseHeaderBytes: 32 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(r)
	if errors.Is(err, errTarget) {
		return refuse("is none that this service may send events to; its operator can allow it with vmscloud run " +
			"--webhook-target HOST")
	}
	if err != nil {
		return refuse("cannot be reached: a GET there must answer 200 with the value of its argument token")
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if res.StatusCode != http.StatusOK || strings.TrimSpace(string(text)) != word {
		return refuse(fmt.Sprintf("does not agree: a GET there must answer 200 with the value of its argument token, "+
			"as plain text; it answers %d", res.StatusCode))
	}
	return nil
}

// Holder is for server.Webhooks.
func (h *hooks) Holder(holder, account string) (identity.Principal, error) {
	return h.ids.Standing(holder, account)
}

// Deliver is for server.Webhooks.
func (h *hooks) Deliver(w server.Webhook) error {
	list, err := h.followers.open(hookCursor + w.ID)
	if err != nil {
		return err
	}
	return h.start(w, list[0])
}

// start serves a webhook with its open cursor.
func (h *hooks) start(w server.Webhook, from cursor) error {
	hook, err := webhook.New(webhook.Options{ID: w.ID, URL: w.Target, Secret: func() (string, error) {
		return w.Secret, nil
	}, Feed: bareCursor{from},
		Choose: w.Choose, Dial: h.targets.dial, UserAgent: "vmscloud", Caps: hookCaps, Log: h.log})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	r := running{stop, make(chan struct{})}
	h.mu.Lock()
	late := h.closed
	if !late {
		h.running[w.ID] = r
	}
	h.mu.Unlock()
	if late {
		stop()
		return errors.New("the service stops")
	}
	go func() {
		defer close(r.done)
		_ = hook.Run(ctx) // until it is stopped
	}()
	return nil
}

// Cease is for server.Webhooks.
func (h *hooks) Cease(id string) {
	h.mu.Lock()
	r, ok := h.running[id]
	delete(h.running, id)
	h.mu.Unlock()
	if ok {
		r.stop()
		<-r.done
	}
	if err := h.followers.forget(hookCursor + id); err != nil {
		h.log.Warn("forget how far a webhook came", "webhook", id, "error", err)
	}
}

// Close stops all, with a moment for requests under way.
func (h *hooks) Close() {
	h.mu.Lock()
	h.closed = true
	list := h.running
	h.running = nil
	h.mu.Unlock()
	for _, r := range list {
		r.stop()
	}
	for _, r := range list {
		<-r.done
	}
}

// keptHooks are the ids of the webhooks among kept subscriptions: their cursors are opened
// together, as others are forgotten.
func keptHooks(list [][]byte) (ids []string) {
	for _, raw := range list {
		var k struct {
			ID   string    `json:"id"`
			Hook *struct{} `json:"hook"`
		}
		if json.Unmarshal(raw, &k) == nil && k.Hook != nil {
			ids = append(ids, k.ID)
		}
	}
	return ids
}
