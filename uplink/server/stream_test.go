package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// streamed is a server with a feed, and a subscription of all that happens at cam-1.
func streamed(t *testing.T) (f *feed.Feed, address string) {
	t.Helper()
	f = feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: bedTokens(t), Feed: f,
		NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	t.Cleanup(f.Close)
	code, res := ask(t, "POST", served.URL+pathSubscriptions, tokenUser,
		wish(deliverySSE, filter{Actors: []string{"camera:cam-1"}}))
	require.Equal(t, 201, code)
	var sub subscription
	require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
	return f, sub.Delivery.URL
}

// happen publishes the n-th event of cam-1, with so much text in it.
func happen(t *testing.T, f *feed.Feed, n, size int) {
	t.Helper()
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(time.UnixMilli(int64(n))), Span: true,
		AccountID: "acc-1", ActorID: "cam-1", ActorAccountID: "acc-1", ActorType: vms.ActorCamera}
	d, err := vms.MakeData(map[string]string{"type": vms.SchemaUserData, "creatorId": "x",
		"text": strings.Repeat("x", size)})
	require.NoError(t, err)
	ev.SetData(d)
	ev.ID = ev.NaturalID()
	f.Publish(ev)
}

// listener reads a stream: which events came, the id of the last message, and the comments.
type listener struct {
	t        *testing.T
	res      *http.Response
	lines    *bufio.Scanner
	last     string
	kind     string // the type that the message names
	comments []string
	why      string // it ends
}

func listen(t *testing.T, address, last string) *listener {
	t.Helper()
	return listenFrom(t, address, tokenUser, last)
}

func listenAs(t *testing.T, address, token string) *listener {
	t.Helper()
	return listenFrom(t, address, token, "")
}

func listenFrom(t *testing.T, address, token, last string) *listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	require.NoError(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(t, 200, res.StatusCode)
	l := &listener{t: t, res: res, lines: bufio.NewScanner(res.Body)}
	require.True(t, l.lines.Scan())
	require.Equal(t, ": follows", l.lines.Text())
	return l
}

// next is the number of the next event, -1 for the end.
func (l *listener) next() int {
	l.t.Helper()
	for l.lines.Scan() {
		switch kind, text, _ := strings.Cut(l.lines.Text(), ": "); kind {
		case "id":
			l.last, l.kind = text, ""
		case "event":
			l.kind = text
		case "":
			l.comments = append(l.comments, text)
		case "data":
			if l.kind == "error" {
				l.why = text
				continue
			}
			var ev vms.Event
			require.NoError(l.t, json.Unmarshal([]byte(text), &ev))
			return int(ev.StartTimestamp.UnixMilli())
		}
	}
	return -1
}

// Nor does one lose anything whose stream breaks before its first message.
func TestAStreamThatToldNothingIsOpenedAgain(t *testing.T) {
	f, address := streamed(t)
	l := listen(t, address, "")
	for l.lines.Scan() && l.lines.Text() != "" { // what a stream begins with
		if id, ok := strings.CutPrefix(l.lines.Text(), "id: "); ok {
			l.last = id
		}
	}
	require.NotEmpty(t, l.last)
	require.NoError(t, l.res.Body.Close())
	happen(t, f, 1, 0)
	require.Equal(t, 1, listen(t, address, l.last).next())
}

// While the stores cannot say who may see an event, a stream tells nothing and loses nothing: it
// ends, and goes on behind its last message.
func TestAStreamWhileTheStoresAreAway(t *testing.T) {
	for what, away := range map[string]func(*fickleStores, bool){
		"users":   func(x *fickleStores, yes bool) { x.users.Store(yes) },
		"cameras": func(x *fickleStores, yes bool) { x.cameras.Store(yes) }} {
		t.Run(what, func(t *testing.T) {
			x, f := &fickleStores{Fixed: bedTokens(t)}, feed.New()
			s, err := New(Options{Events: bedEvents{}, Cameras: x, Auth: x, Feed: f, NotFound: journal.ErrNotFound})
			require.NoError(t, err)
			served := httptest.NewServer(s)
			t.Cleanup(served.Close)
			t.Cleanup(f.Close)
			code, res := ask(t, "POST", served.URL+pathSubscriptions, tokenUser,
				wish(deliverySSE, filter{Types: []eventKind{{vms.TypeMotion}}}))
			require.Equal(t, 201, code)
			var sub subscription
			require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
			l := listen(t, sub.Delivery.URL, "")
			happen(t, f, 1, 0)
			require.Equal(t, 1, l.next())
			away(x, true)
			time.Sleep(sightTime + sightTime/10) // what was found out before holds no more
			happen(t, f, 2, 0)
			require.Equal(t, -1, l.next())
			away(x, false)
			require.Equal(t, 2, listen(t, sub.Delivery.URL, l.last).next())
		})
	}
}

// fickleStores are users and cameras that may be out of reach.
type fickleStores struct {
	*identity.Fixed
	bedCameras
	users, cameras atomic.Bool
}

func (x *fickleStores) Authenticate(token string) (identity.Principal, error) {
	if x.users.Load() {
		return identity.Principal{}, errors.New("the database is away")
	}
	return x.Fixed.Authenticate(token)
}

func (x *fickleStores) HasActor(ctx context.Context, account string, a vms.Actor) (bool, error) {
	if x.cameras.Load() {
		return false, errors.New("the database is away")
	}
	return x.bedCameras.HasActor(ctx, account, a)
}

// Whose stream breaks loses nothing: with the id of its last message it goes on behind that, and an
// event that was told twice, as with its end, is told again after its beginning was.
func TestAStreamIsOpenedAgain(t *testing.T) {
	f, address := streamed(t)
	l := listen(t, address, "")
	happen(t, f, 1, 0)
	happen(t, f, 1, 0)
	require.Equal(t, 1, l.next())
	first := l.last
	require.NoError(t, l.res.Body.Close())
	happen(t, f, 2, 0)
	l = listen(t, address, first)
	require.Equal(t, 1, l.next(), "its end")
	require.Equal(t, 2, l.next())
	happen(t, f, 3, 0)
	require.Equal(t, 3, l.next())
	require.NotEqual(t, first, l.last)
	sep := "?"
	l = listen(t, address+sep+queryLastID+"="+url.QueryEscape(first), "")
	require.Equal(t, 1, l.next(), "the id in the query")

	// One of an earlier run of the program, or of nobody's, begins now.
	l = listen(t, address, "X"+first)
	happen(t, f, 4, 0)
	require.Equal(t, 4, l.next())

	// One that is too old goes on with what is kept, and is told so.
	for n := range 4500 {
		happen(t, f, 5+n, 0)
	}
	l = listen(t, address, first)
	n := l.next()
	require.Greater(t, n, 5)
	for ; n < 4504; n++ {
		require.Equal(t, n+1, l.next())
	}
	require.Contains(t, strings.Join(l.comments, "\n"), "no longer kept")
}

// Readers who do not read hold up neither those who do nor the memory, and there can be only so
// many.
func TestManyStreamsThatNobodyReads(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap() // what other tests left
	f, address := streamed(t)
	for range maxStreams - 1 {
		listen(t, address, "")
	}
	quick := listen(t, address, "")
	code, res := ask(t, "GET", address, tokenUser, nil)
	require.Equal(t, 429, code)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	var most uint64
	for n := range 400 {
		happen(t, f, n, 16<<10)
		if n%40 != 39 {
			continue
		}
		for k := n - 39; k <= n; k++ {
			require.Equal(t, k, quick.next())
		}
		if n%200 == 199 {
			most = max(most, heap())
		}
	}
	t.Logf("%d kB before, %d kB at most", before>>10, most>>10)
	require.Less(t, most-before, uint64(64<<20), "the events themselves are 6 MiB, once for all")
}

// A quiet stream outlasts the deadline of its last write, which HTTP/2 keeps also between writes.
func TestAQuietStreamGoesOn(t *testing.T) {
	require.Greater(t, streamWrite, streamBeat+10*time.Second)
}

func TestHeadOfAStream(t *testing.T) {
	_, address := streamed(t)
	code, res := ask(t, "HEAD", address, tokenUser, nil)
	require.Equal(t, 200, code)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	for range 2 * maxStreams { // none is left behind
		code, _ = ask(t, "HEAD", address, tokenUser, nil)
		require.Equal(t, 200, code)
	}
}
