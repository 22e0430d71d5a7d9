package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestSubscriptionInABrowser: a page of another address follows the bridge's events by an EventSource, which sends no token: the listener
// of a type and onmessage hear each event once.
func TestSubscriptionInABrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""))
	s.startBridge()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>app</title><h1>app</h1>"))
	}))
	t.Cleanup(app.Close)
	b.do(chromedp.Navigate(app.URL))
	require.Equal(t, "", ask[string](b, fmt.Sprintf(`(async () => {
		const res = await fetch(%q + "/api/v3.0/eventSubscriptions?include=signedUrls", {method: "POST",
			headers: {Authorization: "Bearer %s", "Content-Type": "application/json"},
			body: JSON.stringify({deliveryConfig: {type: "serverSentEvents.v1"}, filters: [{types: [{id: %q}]}]})});
		if (res.status !== 201) return await res.text();
		window.named = []; window.plain = []; window.opened = false;
		window.source = new EventSource((await res.json()).deliveryConfig.sseUrl);
		source.onopen = () => { opened = true; };
		source.onmessage = (m) => plain.push([m.lastEventId, JSON.parse(m.data)]);
		source.addEventListener(%[3]q, (m) => named.push([m.lastEventId, JSON.parse(m.data)]));
		return "";
	})()`, s.local, lanToken, vms.TypeMotion)))
	b.shows(`opened`)
	b.shows(`named.length >= 3 && plain.length >= named.length`)
	require.True(t, ask[bool](b, `JSON.stringify(named) === JSON.stringify(plain.slice(0, named.length)) && new Set(named.map((m) => m[0])).size === named.length`))
	require.True(t, ask[bool](b, fmt.Sprintf(`named.every((m) => m[1].actorId === "gate" && m[1].type === %q)`, vms.TypeMotion)))
	// The bridge stops in time though somebody follows.
	s.bridge.stop(5 * time.Second)
}
