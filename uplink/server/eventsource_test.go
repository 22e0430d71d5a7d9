package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// The signed address of a stream opens that stream without a bearer token, and each message comes
// with its type and without. Nothing else is opened by it, and what is no such address says so.
func TestSignedStream(t *testing.T) {
	f := feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: bedTokens(t), Feed: f,
		NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	served := httptest.NewServer(s)
	defer served.Close()
	defer f.Close()
	subscribe := func() (sub subscription) {
		code, res := ask(t, "POST", served.URL+pathSubscriptions+"?include="+includeSigned, tokenUser,
			wish(deliverySSE, filter{Actors: []string{"camera:cam-1"}}))
		require.Equal(t, 201, code)
		require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
		return sub
	}
	sub, other := subscribe(), subscribe()
	signed, err := url.Parse(sub.Delivery.URL)
	require.NoError(t, err)
	require.NotContains(t, sub.Delivery.URL, tokenUser)

	plain := pathSubscriptions + "/" + sub.ID
	query := "?" + signed.RawQuery
	expired := "?" + argSignature + "=" + s.seal(tokenUser, plain+"/stream", time.Now().Add(-time.Second))
	ended := "?" + argSignature + "=" + s.seal("a token that ended", plain+"/stream", time.Now().Add(time.Hour))
	for address, words := range map[string]string{
		plain + "/stream": "authentication", plain + "/stream" + query[:len(query)-3] +
			"xyz": "is not one of this server",
		pathSubscriptions + "/" + other.ID + "/stream" + query: "is not one of this server",
		plain + "/stream" + expired:                            "has expired", plain + "/stream" +
			ended: "authentication",
		plain + query: "authentication", pathSubscriptions + query: "authentication", "/api/v3.0/cameras" +
			query: "authentication",
	} {
		res, err := http.Get(served.URL + address)
		require.NoError(t, err)
		var e vms.Error
		require.NoError(t, json.NewDecoder(res.Body).Decode(&e))
		require.NoError(t, res.Body.Close())
		require.Equal(t, 401, res.StatusCode, address)
		require.Contains(t, e.Message, words, address)
	}

	browser, program := listenAs(t, sub.Delivery.URL, ""), listenAs(t, served.URL+plain+"/stream", tokenUser)
	happen(t, f, 1, 0)
	happen(t, f, 2, 0)
	for n := 1; n <= 2; n++ {
		require.Equal(t, n, browser.next())
		id, kind := browser.last, browser.kind
		require.Equal(t, vms.TypeMotion, kind)
		require.Equal(t, n, browser.next())
		require.Equal(t, id, browser.last)
		require.Empty(t, browser.kind, "for onmessage")
		require.Equal(t, n, program.next())
		require.Equal(t, id, program.last)
	}
	code, res := ask(t, "GET", served.URL+plain, tokenUser, nil)
	require.Equal(t, 200, code)
	require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
	require.False(t, strings.Contains(sub.Delivery.URL, "?"), "only who asks gets a signature")
}
