package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Webhooks hands events to addresses that callers name, within what the operator allows, and goes
// on after a restart. Only vmscloud has it: a bridge's webhooks stand in its configuration. Its
// methods are safe for concurrent use.
type Webhooks interface {
	// Admit is nil if events may go to an address, and whoever answers there agreed to get them. A
	// *vms.Error says why not.
	Admit(ctx context.Context, target string) error
	// Deliver hands events on from now on, until Cease or the end of the program; after a restart,
	// from where it came to.
	Deliver(w Webhook) error
	// Cease ends that for good. It waits for a delivery under way.
	Cease(id string)
	// Holder is who the holder of a credential is by now in an account; the error wraps
	// identity.ErrUnknown if it may not act any more.
	Holder(holder, account string) (identity.Principal, error)
}

// Webhook is a subscription that is delivered by Webhooks.
type Webhook struct {
	ID, Target string
	Secret     string // signs what is sent: never shown or logged
	// Choose is an event as it is to be sent, ok false if it is not wanted or may not be seen. The
	// error says that the stores cannot tell now. It may block on them.
	Choose func(vms.Event) (ev vms.Event, ok bool, err error)
}

// hook is what a subscription with a webhook has beside others.
type hook struct {
	Target  string   `json:"target"`
	Secret  string   `json:"secret"`
	Holder  string   `json:"holder"`  // who made it, which outlives a token that is renewed
	Cameras []string `json:"cameras"` // what its token was limited to; null: nothing
	Base    string   `json:"base"`    // where images are
}

// Limits of webhooks.
const (
	maxHooks     = 10   // of an account
	maxHookURL   = 2048 // bytes
	hookSight    = time.Second
	lifeTemp     = "temporary"
	lifePersists = "persistent"
)

// makeHook turns a subscription into one with a webhook, once the address has agreed.
func (s *Server) makeHook(c *call, sub *subscription, asked delivery) error {
	bad := func(text string) error {
		return vms.BadRequest([]vms.Problem{{Argument: "deliveryConfig.webhookUrl", Reason: vms.ReasonValue,
			Text: text}})
	}
	if asked.Webhook == "" {
		return vms.BadRequest([]vms.Problem{{Argument: "deliveryConfig.webhookUrl", Reason: vms.ReasonMissing}})
	}
	u, err := url.Parse(asked.Webhook)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Scheme != "http" &&
		u.Scheme != "https" || len(asked.Webhook) > maxHookURL {
		return bad("must look like https://host/path, without a user's name and #")
	}
	if c.principal.Holder == "" {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission,
			"This token stands for nobody in whose name events could be sent")
	}
	if s.subs.hooks(sub.account) >= maxHooks {
		return vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany,
			"The account has too many webhooks; delete some")
	}
	if err := s.opts.Webhooks.Admit(c.r.Context(), asked.Webhook); err != nil {
		return err
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	sub.hook = &hook{Target: asked.Webhook, Secret: base64.StdEncoding.EncodeToString(secret),
		Holder:  c.principal.Holder,
		Cameras: c.principal.Cameras, Base: s.here(c.r).String()}
	sub.Config = config{LifeCycle: lifePersists}
	sub.Delivery = delivery{Type: deliveryWebhook, Webhook: asked.Webhook, Contact: asked.Contact,
		ContactName: asked.ContactName}
	return nil
}

// hooks is how many of an account's subscriptions have a webhook.
func (l *subscriptions) hooks(account string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sub := range l.all {
		if sub.account == account && sub.hook != nil {
			n++
		}
	}
	return n
}

// Webhooks are those that were kept, for Options.Webhooks to deliver.
func (s *Server) Webhooks() (list []Webhook) {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	for id, sub := range s.subs.all {
		if sub.hook != nil {
			list = append(list, s.webhook(id, *sub.hook))
		}
	}
	return list
}

func (s *Server) webhook(id string, h hook) Webhook {
	seen := &sight{}
	return Webhook{ID: id, Target: h.Target, Secret: h.Secret, Choose: func(ev vms.Event) (vms.Event, bool, error) {
		s.subs.mu.Lock()
		sub, ok := s.subs.all[id]
		var now subscription
		if ok {
			now = *sub
		}
		s.subs.mu.Unlock()
		if !ok {
			return ev, false, nil
		}
		p, ok, err := s.shows(seen, now, &ev)
		return called(p, ev).WithOverlayImage().WithImagesAt(h.Base), ok, err
	}}
}

// shows reports whether an event is one that a webhook wants and its maker, whom it returns, may
// see by now; at is what was found out of that.
func (s *Server) shows(at *sight, sub subscription, ev *vms.Event) (identity.Principal, bool, error) {
	now := time.Now()
	at.mu.Lock()
	old := at.since.IsZero() || now.Sub(at.since) >= hookSight
	at.mu.Unlock()
	if old {
		p, err := s.opts.Webhooks.Holder(sub.hook.Holder, sub.account)
		if sub.hook.Cameras != nil {
			p.Cameras = sub.hook.Cameras
		}
		at.mu.Lock()
		at.find(p, err, now)
		at.mu.Unlock()
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.err != nil {
		err := at.err
		if at.since = (time.Time{}); errors.Is(err, identity.ErrUnknown) {
			err = nil // its maker may not act any more
		}
		return at.p, false, err
	}
	if !at.p.May(identity.ScopeRead) || ev.ActorAccountID != at.p.AccountID && !at.shared[ev.ActorAccountID] ||
		!sub.wants(at.p, ev) {
		return at.p, false, nil
	}
	sees, err := s.seesLocked(context.Background(), at, at.p, ev)
	return at.p, sees, err
}
