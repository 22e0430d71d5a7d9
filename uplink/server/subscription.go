package server

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// Limits of subscriptions. One that nobody streams is forgotten after subscriptionTime.
const (
	deliverySSE      = "serverSentEvents.v1"
	deliveryWebhook  = "webhook.v1" // of the public service
	subscriptionTime = 15 * time.Minute
	maxSubscriptions = 100 // of an account
	maxFilterItems   = 200
)

// subscription is a wish for new events: those that pass any of the filters.
type subscription struct {
	ID       string   `json:"id"`
	Config   config   `json:"subscriptionConfig"`
	Delivery delivery `json:"deliveryConfig"`
	Filters  []filter `json:"filters"`

	account, token string
	made, used     time.Time
	streams        int
	hook           *hook // nil: it is streamed
}

// config says how long a subscription lives: a temporary one ends that long after its last stream,
// a persistent one, whose events go to a webhook, when it is deleted.
type config struct {
	LifeCycle string `json:"lifeCycle"`
	Life      int    `json:"timeToLiveSeconds,omitempty"`
}

type delivery struct {
	Type string `json:"type"`
	URL  string `json:"sseUrl,omitempty"`
	Life int    `json:"timeToLiveSeconds,omitempty"`

	Webhook     string `json:"webhookUrl,omitempty"`
	Contact     string `json:"technicalContactEmail,omitempty"`
	ContactName string `json:"technicalContactName,omitempty"`
	Secret      string `json:"secret,omitempty"` // told once, when the subscription is made
}

// subscriptions are those of all accounts.
type subscriptions struct {
	feed  *feed.Feed
	store SubscriptionStore // nil: they end with the program
	turn  chan struct{}     // holds one while somebody writes to the store

	mu  sync.Mutex // guards all
	all map[string]*subscription
}

const pathSubscriptions = "/api/v3.0/eventSubscriptions"

// subscribe is POST /eventSubscriptions.
func (s *Server) subscribe(c *call) error {
	if err := errors.Join(c.args.err(), checkEvents(c)); err != nil {
		return err
	}
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	var in subscription
	if err := json.Unmarshal(body, &in); err != nil {
		return vms.BadRequest([]vms.Problem{{Argument: "body", Reason: vms.ReasonJSON, Text: "is not a subscription"}})
	}
	if err := s.checkDelivery(in.Delivery.Type); err != nil {
		return err
	}
	if err := s.checkFilters(c, in.Filters); err != nil {
		return err
	}
	sub := &subscription{ID: rand.Text(), Filters: orEmpty(in.Filters), account: c.principal.AccountID,
		token: c.principal.TokenID, made: time.Now(), used: time.Now(),
		Config:   config{lifeTemp, int(subscriptionTime / time.Second)},
		Delivery: delivery{Type: deliverySSE, Life: int(subscriptionTime / time.Second)}}
	if in.Delivery.Type == deliveryWebhook {
		if err := s.makeHook(c, sub, in.Delivery); err != nil {
			return err
		}
	}
	made := *sub // others may change it once it is there
	if err := s.addKept(sub); err != nil {
		return err
	}
	c.w.Header().Set("Location", pathSubscriptions+"/"+made.ID)
	made = s.shown(c, made)
	if made.hook != nil {
		made.Delivery.Secret = made.hook.Secret
	}
	writeJSON(c.w, http.StatusCreated, made)
	return nil
}

// addKept adds a subscription, and is done when it will outlast a restart and its webhook is
// served.
func (s *Server) addKept(sub *subscription) error {
	account, id, h := sub.account, sub.ID, sub.hook
	over, err := s.subs.add(sub)
	if err != nil {
		return err
	}
	err = s.subs.keep(account, append(over, id)...)
	if err == nil && h != nil {
		err = s.opts.Webhooks.Deliver(s.webhook(id, *h))
	}
	if err != nil {
		s.subs.forget(id)
		_ = s.subs.keep(account, id)
	}
	return err
}

// checkDelivery lets through the kinds of delivery that there are here.
func (s *Server) checkDelivery(kind string) error {
	problem := vms.Problem{Argument: "deliveryConfig.type", Reason: vms.ReasonValue, Text: "must be " + deliverySSE}
	if s.opts.Webhooks != nil {
		problem.Text += " or " + deliveryWebhook
	}
	switch {
	case kind == deliverySSE, kind == deliveryWebhook && s.opts.Webhooks != nil:
		return nil
	case kind == "":
		problem.Reason = vms.ReasonMissing
	case kind == deliveryWebhook:
		problem.Text = deliveryWebhook + " is not offered here, only " + deliverySSE +
			"; a bridge's webhooks stand in its configuration, below webhooks:"
	}
	return vms.BadRequest([]vms.Problem{problem})
}

// add forgets what is over of the account, whose ids it returns, and takes one in.
func (l *subscriptions) add(sub *subscription) (over []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for id, old := range l.all {
		if old.account != sub.account {
			continue
		}
		if old.hook == nil && old.streams == 0 && sub.used.Sub(old.used) > subscriptionTime {
			delete(l.all, id)
			over = append(over, id)
		} else {
			n++
		}
	}
	if n >= maxSubscriptions {
		return over,
			vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany,
				"The account has too many subscriptions; delete some")
	}
	l.all[sub.ID] = sub
	return over, nil
}

func (l *subscriptions) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, id)
}

// listSubscriptions is GET /eventSubscriptions: those of the very token that asks, in the order of
// their making.
func (s *Server) listSubscriptions(c *call) error {
	a := c.args
	page, _, err := pageOf(s, c, a, "eventSubscriptions", s.subs.of(c))
	if err != nil {
		return err
	}
	for i, sub := range page.Results {
		page.Results[i] = s.shown(c, sub)
	}
	return c.ok(page)
}

// of are the subscriptions of the caller's token.
func (l *subscriptions) of(c *call) []subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []subscription{}
	for _, sub := range l.all {
		if l.isOwn(c, sub) {
			list = append(list, *sub)
		}
	}
	slices.SortFunc(list, func(a, b subscription) int {
		return cmp.Or(a.made.Compare(b.made), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// isOwn says whether the caller made a subscription that is still there: one that is streamed with
// the very token, one with a webhook with any of the same holder. The caller holds mu.
func (l *subscriptions) isOwn(c *call, sub *subscription) bool {
	switch p := c.principal; {
	case sub.account != p.AccountID:
		return false
	case sub.hook != nil:
		return sub.hook.Holder == p.Holder
	default:
		return sub.token == p.TokenID && (sub.streams > 0 || time.Since(sub.used) <= subscriptionTime)
	}
}

// own finds a subscription of the very token that made it; other tokens' answer like none.
func (l *subscriptions) own(c *call, change func(*subscription)) (subscription, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := c.r.PathValue("id")
	sub, ok := l.all[id]
	if !ok || !l.isOwn(c, sub) {
		return subscription{}, vms.NotFound("eventSubscriptions",
			"The resource was not found: there is no subscription "+id, id)
	}
	change(sub)
	return *sub, nil
}

// getSubscription is GET /eventSubscriptions/{id}.
func (s *Server) getSubscription(c *call) error {
	if err := c.args.err(); err != nil {
		return err
	}
	sub, err := s.subs.own(c, func(*subscription) {})
	if err != nil {
		return err
	}
	return c.ok(s.shown(c, sub))
}

// unsubscribe is DELETE /eventSubscriptions/{id}. Streams of it end with their next event or beat.
func (s *Server) unsubscribe(c *call) error {
	sub, err := s.subs.own(c, func(sub *subscription) { delete(s.subs.all, sub.ID) })
	if err != nil {
		return err
	}
	if err := s.subs.keep(sub.account, sub.ID); err != nil {
		return err
	}
	if sub.hook != nil {
		s.opts.Webhooks.Cease(sub.ID)
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
