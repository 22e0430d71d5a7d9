package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// bedHooks takes webhooks, and says who their holders are.
type bedHooks struct {
	identity.Principal
	err    error
	served map[string]Webhook
}

func (h *bedHooks) Admit(context.Context, string) error { return nil }

func (h *bedHooks) Deliver(w Webhook) error {
	h.served[w.ID] = w
	return nil
}

func (h *bedHooks) Cease(id string) { delete(h.served, id) }

func (h *bedHooks) Holder(holder, account string) (identity.Principal, error) {
	p := h.Principal
	p.Holder, p.AccountID = holder, account
	return p, h.err
}

// What a webhook is sent is decided anew all the time: by its filters as they are, by what its
// maker may see by now, and never by more than its maker's token was limited to.
func TestWhatAWebhookIsSent(t *testing.T) {
	hooks := &bedHooks{served: map[string]Webhook{}}
	f := feed.New()
	defer f.Close()
	auth := bedTokens(t)
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: auth, Feed: f,
		NotFound: journal.ErrNotFound, Webhooks: hooks})
	require.NoError(t, err)
	served := httptest.NewServer(s)
	defer served.Close()
	make := func(token string) (w Webhook, path string) {
		code, res := ask(t, "POST", served.URL+pathSubscriptions, token, map[string]any{
			"deliveryConfig": map[string]string{"type": deliveryWebhook, "webhookUrl": "https://hooks.example.org/in"},
			"filters":        []filter{{Types: []eventKind{{vms.TypeMotion}}}}})
		require.Equal(t, 201, code)
		var sub subscription
		require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
		require.Equal(t, hooks.served[sub.ID].Secret, sub.Delivery.Secret)
		return hooks.served[sub.ID], pathSubscriptions + "/" + sub.ID
	}
	event := func(camera, account, kind string) vms.Event {
		ev := vms.Event{Type: kind, StartTimestamp: vms.At(t0), Span: true, AccountID: account, ActorID: camera,
			ActorAccountID: account, ActorType: vms.ActorCamera}
		ev.SetData(vms.FullFrameImageURL("", vms.ImageURL("http://192.0.2.7:8480", camera, vms.ImagePreview,
			vms.OpBefore, t0), t0, "preview"))
		ev.ID = ev.NaturalID()
		return ev
	}
	sent := func(w Webhook, ev vms.Event) bool {
		_, ok, err := w.Choose(ev)
		return ok && err == nil
	}
	mine := event("cam-1", "acc-1", vms.TypeMotion)
	all, path := make(tokenUser)
	limited, _ := make(tokenRestricted) // to cam-1
	got, ok, err := all.Choose(mine)
	require.True(t, ok)
	require.NoError(t, err)
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	require.Contains(t, string(raw), served.URL+vms.PathImage, "images are where the subscription was made")
	require.True(t, sent(all, event("cam-2", "acc-1", vms.TypeMotion)))
	require.False(t, sent(all, event("cam-1", "acc-1", vms.TypeTamper)), "not asked for")
	require.False(t, sent(all, event("cam-1", "acc-2", vms.TypeMotion)), "another account's")
	require.True(t, sent(limited, mine))
	require.False(t, sent(limited, event("cam-2", "acc-1", vms.TypeMotion)), "its token saw one camera only")

	code, _ := ask(t, "POST", served.URL+path+"/filters", tokenUser, filter{Types: []eventKind{{vms.TypeTamper}}})
	require.Equal(t, 201, code)
	require.True(t, sent(all, event("cam-1", "acc-1", vms.TypeTamper)))

	// What the holder may do is asked for once a second.
	later := func(want bool, change func()) {
		change()
		require.Eventually(t, func() bool { return sent(all, mine) == want }, 20*time.Second, 20*time.Millisecond)
	}
	later(false, func() { hooks.Cameras = []string{"cam-9"} })
	later(true, func() { hooks.Cameras = nil })
	later(false, func() { hooks.Scopes = []string{identity.ScopeReport} })
	later(true, func() { hooks.Scopes = nil })
	later(false, func() { hooks.err = identity.ErrUnknown })
	later(true, func() { hooks.err = nil })
	hooks.err = errors.New("the database is away")
	require.Eventually(t, func() bool {
		_, ok, err := all.Choose(mine)
		return !ok && err != nil
	}, 20*time.Second, 20*time.Millisecond, "it is not known")
	later(true, func() { hooks.err = nil })
	code, _ = ask(t, "DELETE", served.URL+path, tokenUser, nil)
	require.Equal(t, 204, code)
	require.False(t, sent(all, mine))
	require.Len(t, hooks.served, 1)

	for n := range maxHooks {
		code, _ := ask(t, "POST", served.URL+pathSubscriptions, tokenUser,
			map[string]any{"deliveryConfig": map[string]string{"type": deliveryWebhook,
				"webhookUrl": "https://hooks.example.org/in"}})
		require.Equal(t, map[bool]int{true: 201, false: 429}[n < maxHooks-1], code, n)
	}
}
