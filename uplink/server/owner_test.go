package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Two programs that report, neither of them a bridge.
const (
	tokenLPR = "token-lpr"
	tokenPTZ = "token-ptz"
)

func reporters(b *bed) {
	b.t.Helper()
	for _, token := range []string{tokenLPR, tokenPTZ} {
		require.NoError(b.t,
			b.server.opts.Auth.(*identity.Fixed).Add(token,
				identity.Principal{Name: token, AccountID: "acc-1",
					Scopes: []string{identity.ScopeReport, identity.ScopeRead}}))
	}
}

// told is a person's event of cam-1 at t0 as a program tells it.
type told struct {
	creator, objects string // object ids, with spaces
	seconds          int    // how long; 0: it goes on
	note             string // another text in its data
	id               string
}

func (x told) body(t *testing.T) string {
	t.Helper()
	ev := vms.Event{Type: "vms.personDetectionEvent.v1", StartTimestamp: vms.At(t0), Span: true, AccountID: "acc-1",
		ActorID: "cam-1", ActorAccountID: "acc-1",
		ActorType: vms.ActorCamera, CreatorID: "acme.ai", ID: x.id}
	if x.creator != "" {
		ev.CreatorID = x.creator
	}
	if x.seconds > 0 {
		ev.EndTimestamp = vms.Ptr(t0.Add(time.Duration(x.seconds) * time.Second))
	}
	items := []vms.Data{vms.CreatorDetails(ev.CreatorID, vms.CreatorInfo{ID: "b", Vendor: "v", Version: x.note})}
	for o := range strings.FieldsSeq(x.objects) {
		items = append(items, vms.ObjectDetection(ev.CreatorID, o, t0, [4]float64{0, 0, 0.5, 0.5}))
	}
	ev.SetData(items...)
	raw, err := json.Marshal(ev)
	require.NoError(t, err)
	return string(raw)
}

func (b *bed) moment() (out []vms.Event) {
	b.t.Helper()
	page, err := b.journal.List(vms.Query{Actors: []vms.Actor{{Type: "camera", ID: "cam-1"}}, Ascending: true}, nil)
	require.NoError(b.t, err)
	return page.Events
}

// What is one event and what are two, for a program that reports several of one moment. Each report
// is made twice: the second time changes nothing.
func TestEventsOfOneMoment(t *testing.T) {
	for name, c := range map[string]struct {
		reports []told
		want    int // events
	}{
		"two persons in one frame": {[]told{{objects: "c:1", seconds: 4},
			{objects: "c:2", seconds: 4}}, 2},
		"two persons, both go on, then end": {[]told{{objects: "c:1"}, {objects: "c:2"},
			{objects: "c:2", seconds: 3}, {objects: "c:1", seconds: 4}}, 2},
		"three persons": {[]told{{objects: "c:1", seconds: 4},
			{objects: "c:2", seconds: 4}, {objects: "c:3 c:4", seconds: 4}}, 3},
		"more is seen of one person": {[]told{{objects: "c:1"}, {objects: "c:1 c:2", seconds: 4}}, 1},
		"a person is corrected": {[]told{{objects: "c:1", seconds: 4},
			{objects: "c:1", seconds: 5, note: "2"}}, 1},
		"objects are named when it ends": {[]told{{}, {objects: "c:1", seconds: 4}}, 1},
		"no objects, it ends":            {[]told{{}, {seconds: 4, note: "2"}}, 1},
		"no objects, another end":        {[]told{{seconds: 4}, {seconds: 5}}, 1},
		"no objects, other data":         {[]told{{seconds: 4, note: "1"}, {seconds: 4, note: "2"}}, 2},
		"no objects, other data, by its id": {[]told{{seconds: 4, note: "1"},
			{seconds: 4, note: "2", id: "natural"}}, 1},
		"two creators": {[]told{{objects: "c:1", seconds: 4},
			{creator: "acme.other", objects: "c:1", seconds: 4}}, 2},
		"two creators, both go on": {[]told{{}, {creator: "acme.other"},
			{creator: "acme.other", seconds: 4}, {seconds: 3}}, 2},
		"an id that is none of its": {[]told{{seconds: 4},
			{seconds: 5, id: "cam-2-2026-11-21T07:00:00.000+00:00-vms.personDetectionEvent.v1"}}, 1},
		"an id of its own choice that fits": {[]told{{seconds: 4}, {seconds: 5, id: "natural-x1"}}, 2},
		"an id of its own choice, and its end by that": {[]told{{seconds: 4}, {id: "natural-x1"},
			{seconds: 5, id: "natural-x1"}}, 2},
	} {
		for _, batch := range []string{"one by one", "at once"} {
			t.Run(name+" "+batch, func(t *testing.T) {
				b := newBed(t)
				reporters(b)
				var bodies []string
				for _, x := range c.reports {
					x.id = strings.Replace(x.id, "natural",
						"cam-1-2026-11-21T07:00:00.000+00:00-vms.personDetectionEvent.v1", 1)
					bodies = append(bodies, x.body(t))
				}
				ended := map[string]vms.Event{} // as the answers say
				again := 2
				if strings.Contains(name, "by its id") {
					again = 1 // its first form once more would be another event
				}
				for range again {
					if batch == "at once" {
						var out vms.ReportedMany
						b.do("POST", "/api/v3.0/events:report", tokenLPR, `{"events":[`+strings.Join(bodies, ",")+`]}`).into(200, &out)
						require.Len(t, out.Results, len(bodies))
						for _, r := range out.Results {
							require.Nil(t, r.Error)
						}
						continue
					}
					for _, body := range bodies {
						var stored vms.Event
						b.do("POST", "/api/v3.0/events", tokenLPR, body).into(201, &stored)
						require.True(t, stored.FitsID(stored.ID), stored.ID)
						if !stored.Ongoing() {
							ended[stored.ID] = stored
						}
						var again vms.Event
						b.do("POST", "/api/v3.0/events", tokenLPR, body).into(201, &again)
						require.Equal(t, stored, again)
					}
				}
				found := b.moment()
				require.Len(t, found, c.want)
				for _, ev := range found {
					require.Equal(t, "token:token-lpr", ev.Owner)
					var got vms.Event
					r := b.get("/api/v3.0/events/" + ev.ID)
					r.into(200, &got)
					require.Equal(t, ev.ID, got.ID)
					require.NotContains(t, string(r.body), "token-lpr", "whose it is stays here")
					if last, ok := ended[ev.ID]; ok && batch == "one by one" {
						require.Equal(t, last.EndTimestamp, ev.EndTimestamp)
						require.Equal(t, last.Data, ev.Data)
					}
				}
			})
		}
	}
}

// Many at once of one moment: none takes another's place.
func TestManyOfOneMomentAtOnce(t *testing.T) {
	b := newBed(t)
	reporters(b)
	var all sync.WaitGroup
	codes := make([]int, 24)
	for i := range codes {
		all.Go(func() {
			token := []string{tokenLPR, tokenPTZ}[i%2]
			codes[i] = b.do("POST", "/api/v3.0/events", token,
				told{objects: fmt.Sprint("c:", i), seconds: 4}.body(t)).code
		})
	}
	all.Wait()
	kept, taken := 0, 0
	owners := map[string]bool{}
	for _, ev := range b.moment() {
		owners[ev.Owner] = true
		kept++
	}
	for _, code := range codes {
		if code == 201 {
			taken++
		} else {
			require.Equal(t, 409, code)
		}
	}
	require.Equal(t, taken, kept, "each 201 is of an event that is there")
	require.Len(t, owners, 1, "the moment is the first one's")
	require.Equal(t, 12, kept)
}

// Nobody but who reported an event changes it, alone or in a batch; the others of the batch are
// stored.
func TestOnlyTheOwnerChangesAnEvent(t *testing.T) {
	b := newBed(t)
	reporters(b)
	var mine vms.Event
	b.do("POST", "/api/v3.0/events", tokenLPR, told{objects: "c:1"}.body(t)).into(201, &mine)
	before := b.moment()
	for _, x := range []told{{objects: "c:1", seconds: 4}, {objects: "c:2", seconds: 4}, {seconds: 4}, {},
		{creator: "acme.other", seconds: 4}, {seconds: 4, id: mine.ID}} {
		for _, token := range []string{tokenPTZ, tokenBridge} {
			b.do("POST", "/api/v3.0/events", token, x.body(t)).refused(409, vms.ReasonExists, mine.ID,
				"one millisecond later")
		}
	}
	other := motion("cam-2", 0, time.Second)
	raw, err := json.Marshal(other)
	require.NoError(t, err)
	var out vms.ReportedMany
	b.do("POST", "/api/v3.0/events:report", tokenPTZ, `{"events":[`+told{seconds: 4}.body(t)+","+string(raw)+`]}`).into(200, &out)
	require.Len(t, out.Results, 2)
	require.Equal(t, 409, out.Results[0].Error.Code)
	require.Equal(t, other.ID, out.Results[1].ID)
	require.Equal(t, before, b.moment(), "nothing has changed")
	b.do("POST", "/api/v3.0/events", tokenLPR, told{objects: "c:1", seconds: 9}.body(t)).into(201, &mine)
	require.Equal(t, t0.Add(9*time.Second), b.moment()[0].EndTimestamp.Time)
}

// What was stored before owners were kept is the bridge's that has the camera.
func TestEventsOfBeforeThereWereOwners(t *testing.T) {
	b := newBed(t)
	reporters(b)
	old := motion("cam-1", 0, 0)
	b.put(old)
	raw, err := json.Marshal(motion("cam-1", 0, time.Second))
	require.NoError(t, err)
	b.do("POST", "/api/v3.0/events", tokenLPR, string(raw)).refused(409, vms.ReasonExists)
	b.do("POST", "/api/v3.0/events", tokenBridge, string(raw)).into(201, &old)
	require.Equal(t, "bridge:bridge-1", b.moment()[0].Owner)
	b.server.opts.Bridges = nil // as on the bridge itself
	b.put(motion("cam-1", 5, 0))
	later, err := json.Marshal(motion("cam-1", 5, time.Second))
	require.NoError(t, err)
	b.do("POST", "/api/v3.0/events", tokenLPR, string(later)).refused(409, vms.ReasonExists)
}

// A bridge's own spans are one event each, whatever its boxes are when they end; of other programs
// behind it the objects tell.
func TestSpansOfABridge(t *testing.T) {
	b := newBed(t)
	span := func(creator, object string, seconds int) vms.Event {
		var ev vms.Event
		require.NoError(t, json.Unmarshal([]byte(told{creator: creator, objects: object, seconds: seconds}.body(t)),
			&ev))
		return ev
	}
	report := func(ev vms.Event) {
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		b.do("POST", "/api/v3.0/events", tokenBridge, string(raw)).into(201, &ev)
	}
	report(span(vms.CreatorMotion, "c:1", 0))
	report(span(vms.CreatorMotion, "c:2", 4))
	report(span(vms.CreatorMotion, "c:3", 5))
	require.Len(t, b.moment(), 1)
	report(span("acme.ai", "c:1", 4))
	report(span("acme.ai", "c:2", 4))
	require.Len(t, b.moment(), 3)
	for _, ev := range b.moment() {
		require.Equal(t, "bridge:bridge-1", ev.Owner)
	}
}

// The status of a device by the system's health comes from its bridge alone.
func TestWhoSaysHowACameraIs(t *testing.T) {
	b := newBed(t)
	reporters(b)
	b.as("administrator", &identity.Grants{All: true, Preview: true, Recorded: true})
	status := func(creator string) string {
		ev := motion("cam-1", 0, time.Second)
		ev.Type, ev.CreatorID = vms.TypeDeviceStatus, creator
		ev.SetData(vms.DeviceCloudStatusUpdate(creator, vms.StatusDeviceOffline))
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		return string(raw)
	}
	b.do("POST", "/api/v3.0/events", tokenLPR, status(vms.CreatorHealth)).refused(403, vms.ReasonPermission,
		vms.CreatorHealth)
	b.do("POST", "/api/v3.0/events", tokenLPR, status("een.systemHealth")).refused(403, vms.ReasonPermission,
		vms.CreatorHealth)
	require.Empty(t, b.moment())
	var ev vms.Event
	b.do("POST", "/api/v3.0/events", tokenLPR, status("acme.monitor")).into(201, &ev)
	b.do("POST", "/api/v3.0/events", tokenBridge, strings.ReplaceAll(status(vms.CreatorHealth), "07:00:00.000",
		"07:00:00.001")).into(201, &ev)
	b.server.opts.Bridges = nil // on the bridge itself it makes these alone
	b.do("POST", "/api/v3.0/events", tokenLPR, status(vms.CreatorHealth)).refused(403, vms.ReasonPermission,
		vms.CreatorHealth)
}
