package server

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// counted counts what is asked of the users' file, and lets a test end a token.
type counted struct {
	*identity.Fixed
	asked atomic.Int64
	ended sync.Map
}

func (c *counted) Authenticate(token string) (identity.Principal, error) {
	c.asked.Add(1)
	if _, gone := c.ended.Load(token); gone {
		return identity.Principal{}, identity.ErrUnknown
	}
	return c.Fixed.Authenticate(token)
}

// countedCameras counts what is asked of the registry.
type countedCameras struct {
	bedCameras
	asked atomic.Int64
}

func (c *countedCameras) HasActor(ctx context.Context, account string, a vms.Actor) (bool, error) {
	c.asked.Add(1)
	return c.bedCameras.HasActor(ctx, account, a)
}

// What a token may see is found out once a second and actor for all of its streams, and of other
// accounts' events nothing at all. A token that ends ends its streams, one that stays keeps them.
func TestStreamsShareWhatIsFoundOut(t *testing.T) {
	auth, cameras, f := &counted{Fixed: bedTokens(t)}, &countedCameras{}, feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: cameras, Auth: auth, Feed: f, NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	t.Cleanup(f.Close)
	var streams []*listener
	const of, events = 12, 300
	for range of {
		code, res := ask(t, "POST", served.URL+pathSubscriptions, tokenUser,
			wish(deliverySSE, filter{Types: []eventKind{{vms.TypeMotion}}}))
		require.Equal(t, 201, code)
		var sub subscription
		require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
		streams = append(streams, listen(t, sub.Delivery.URL, ""))
	}
	began, asked, known := time.Now(), auth.asked.Load(), cameras.asked.Load()
	for n := range events {
		foreign := motion("cam-9", n, time.Second)
		foreign.AccountID, foreign.ActorAccountID = "acc-2", "acc-2"
		f.Publish(foreign)
		happen(t, f, n, 0)
	}
	for _, l := range streams {
		for n := range events {
			require.Equal(t, n, l.next())
		}
	}
	seconds := int64(time.Since(began)/time.Second) + 2
	require.LessOrEqual(t, auth.asked.Load()-asked, seconds, "of %d events at %d streams", events, of)
	require.LessOrEqual(t, cameras.asked.Load()-known, seconds)

	auth.ended.Store(tokenUser, true)
	done := make(chan int)
	go func() { done <- streams[0].next() }()
	select {
	case n := <-done:
		require.Equal(t, -1, n, "nothing more is told")
		require.Contains(t, streams[0].why, `"code":401`)
	case <-time.After(30 * time.Second):
		t.Fatal("a stream goes on with a token that has ended")
	}
}

// What a token may see is believed for one second and no longer, whatever the constants say.
func TestASightIsASecondOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		auth := &counted{Fixed: bedTokens(t)}
		s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: auth, NotFound: journal.ErrNotFound})
		require.NoError(t, err)
		r := httptest.NewRequest("GET", pathSubscriptions, nil)
		r.Header.Set("Authorization", "Bearer "+tokenUser)
		_, _, err = s.principal(&call{r: r})
		require.NoError(t, err)
		auth.ended.Store(tokenUser, true)
		time.Sleep(time.Second - time.Millisecond)
		_, _, err = s.principal(&call{r: r})
		require.NoError(t, err)
		require.EqualValues(t, 1, auth.asked.Load())
		time.Sleep(time.Millisecond)
		_, _, err = s.principal(&call{r: r})
		require.Error(t, err, "the token has ended a second ago")
	})
}

// A camera that is taken away from a user is not told of any more a second later, while the stream
// goes on.
func TestWhatIsTakenAwayIsNotTold(t *testing.T) {
	grants := &identity.Grants{Devices: map[string]string{"cam-1": "R", "cam-2": "R"}, Preview: true}
	var now atomic.Pointer[identity.Grants]
	now.Store(grants)
	f := feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: grantsOf{&now}, Feed: f,
		NotFound: journal.ErrNotFound})
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
	now.Store(&identity.Grants{Devices: map[string]string{"cam-2": "R"}, Preview: true})
	changed := time.Now()
	for told := 1; told == 1; {
		// Of both cameras, always the same: the first one's are told for as long as what was found
		// out is gone by.
		happen(t, f, 1, 0)
		of2 := motion("cam-2", 0, time.Second)
		of2.StartTimestamp = vms.At(time.UnixMilli(2))
		f.Publish(of2)
		told = l.next()
		if told == 1 {
			require.Equal(t, 2, l.next())
		}
		require.Less(t, time.Since(changed), time.Minute)
	}
	for n := range 8 {
		happen(t, f, 1, 0)
		of2 := motion("cam-2", 0, time.Second)
		of2.StartTimestamp = vms.At(time.UnixMilli(int64(100 + n)))
		f.Publish(of2)
		require.Equal(t, 100+n, l.next())
	}
}

type grantsOf struct {
	now *atomic.Pointer[identity.Grants]
}

func (g grantsOf) Authenticate(string) (identity.Principal, error) {
	return identity.Principal{TokenID: "t", Kind: identity.KindUser, AccountID: "acc-1", Grants: g.now.Load()}, nil
}

// A user who may no longer see events is told of none.
func TestWhoMaySeeNoEventsIsToldOfNone(t *testing.T) {
	var now atomic.Pointer[identity.Grants]
	now.Store(&identity.Grants{Devices: map[string]string{"cam-1": "R"}, Preview: true})
	f := feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: grantsOf{&now}, Feed: f,
		NotFound: journal.ErrNotFound})
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
	var told atomic.Int64 // when something was told last
	go func() {
		for l.next() >= 0 {
			told.Store(time.Now().UnixNano())
		}
	}()
	require.Eventually(t, func() bool { happen(t, f, 1, 0); return told.Load() != 0 }, time.Minute, 10*time.Millisecond)
	now.Store(&identity.Grants{Devices: map[string]string{"cam-1": "R"}})
	require.Eventually(t,
		func() bool { happen(t, f, 1, 0); return time.Since(time.Unix(0, told.Load())) > 2*sightTime }, time.Minute,
		50*time.Millisecond)
}
