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
}

// config says how long a subscription lives: a temporary one ends that long after its last stream.
type config struct {
	LifeCycle string `json:"lifeCycle"`
	Life      int    `json:"timeToLiveSeconds"`
}

type delivery struct {
	Type string `json:"type"`
	URL  string `json:"sseUrl,omitempty"`
	Life int    `json:"timeToLiveSeconds,omitempty"`
}

// subscriptions are those of all accounts, in memory: a client whose stream ends with the program asks for another one.
type subscriptions struct {
	feed *feed.Feed
	mu   sync.Mutex // guards all
	all  map[string]*subscription
}

const pathSubscriptions = "/api/v3.0/eventSubscriptions"

// subscribe is POST /eventSubscriptions.
func (s *Server) subscribe(c *call) error {
	if err := errors.Join(parseArgs(c.r.URL.RawQuery, "include").err(), checkEvents(c)); err != nil {
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
	if err := checkDelivery(in.Delivery.Type); err != nil {
		return err
	}
	if err := s.checkFilters(c, in.Filters); err != nil {
		return err
	}
	sub := &subscription{ID: rand.Text(), Filters: in.Filters, account: c.principal.AccountID, token: c.principal.TokenID, made: time.Now(), used: time.Now()}
	sub.Filters = orEmpty(sub.Filters)
	sub.Config = config{"temporary", int(subscriptionTime / time.Second)}
	sub.Delivery = delivery{Type: deliverySSE, Life: int(subscriptionTime / time.Second)}
	if err := s.subs.add(sub); err != nil {
		return err
	}
	c.w.Header().Set("Location", pathSubscriptions+"/"+sub.ID)
	writeJSON(c.w, http.StatusCreated, s.shown(c, *sub))
	return nil
}

// checkDelivery lets through the one kind of delivery that there is here. The public service knows webhooks too. They are refused: an
// address that any caller names would be called from within the service's network, and what is sent there would have to outlive
// restarts and outages, which a bridge's own webhooks do (uplink/webhook), for the same events.
func checkDelivery(kind string) error {
	problem := vms.Problem{Argument: "deliveryConfig.type", Reason: vms.ReasonValue, Text: "must be " + deliverySSE}
	switch kind {
	case deliverySSE:
		return nil
	case "":
		problem.Reason = vms.ReasonMissing
	case deliveryWebhook:
		problem.Text = deliveryWebhook + " is not offered by this service, only " + deliverySSE + "; bridges send webhooks, see webhooks: in their configuration"
	}
	return vms.BadRequest([]vms.Problem{problem})
}

// add forgets what is over and takes one in.
func (l *subscriptions) add(sub *subscription) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for id, old := range l.all {
		if old.streams == 0 && sub.used.Sub(old.used) > subscriptionTime {
			delete(l.all, id)
		} else if old.account == sub.account {
			n++
		}
	}
	if n >= maxSubscriptions {
		return vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany, "The account has too many subscriptions; delete some")
	}
	l.all[sub.ID] = sub
	return nil
}

// listSubscriptions is GET /eventSubscriptions: those of the very token that asks, in the order of their making.
func (s *Server) listSubscriptions(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "pageToken", "pageSize", "include")
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
	slices.SortFunc(list, func(a, b subscription) int { return cmp.Or(a.made.Compare(b.made), cmp.Compare(a.ID, b.ID)) })
	return list
}

// isOwn says whether the caller made a subscription that is still there. The caller holds mu.
func (l *subscriptions) isOwn(c *call, sub *subscription) bool {
	return sub.account == c.principal.AccountID && sub.token == c.principal.TokenID && (sub.streams > 0 || time.Since(sub.used) <= subscriptionTime)
}

// own finds a subscription of the very token that made it; other tokens' answer like none.
func (l *subscriptions) own(c *call, change func(*subscription)) (subscription, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sub, ok := l.all[c.r.PathValue("id")]
	if !ok || !l.isOwn(c, sub) {
		return subscription{}, vms.NotFound("eventSubscriptions", "", c.r.PathValue("id"))
	}
	change(sub)
	return *sub, nil
}

// getSubscription is GET /eventSubscriptions/{id}.
func (s *Server) getSubscription(c *call) error {
	if err := parseArgs(c.r.URL.RawQuery, "include").err(); err != nil {
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
	if err := parseArgs(c.r.URL.RawQuery).err(); err != nil {
		return err
	}
	if _, err := s.subs.own(c, func(sub *subscription) { delete(s.subs.all, sub.ID) }); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
