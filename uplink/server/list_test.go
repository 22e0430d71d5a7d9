package server

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

const window = "&startTimestamp__gte=2026-11-21T00:00:00.000%2B00:00&startTimestamp__lte=2026-11-22T00:00:00.000%2B00:00"

func TestListFilters(t *testing.T) {
	b := newBed(t)
	first := motion("cam-1", 0, 10*time.Second)
	ongoing := motion("cam-1", 60, 0)
	later := motion("cam-1", 120, 30*time.Second)
	second := motion("cam-2", 30, 5*time.Second)
	tamper := motion("cam-1", 90, time.Second)
	tamper.Type = vms.TypeTamper
	tamper.ID = tamper.NaturalID()
	b.put(first, ongoing, later, second, tamper)
	at := func(sec int) string {
		return url.QueryEscape(vms.At(t0.Add(time.Duration(sec) * time.Second)).String())
	}
	day := "startTimestamp__gte=" + at(-3600) + "&"

	for name, c := range map[string]struct {
		query string
		want  []string
	}{
		"newest first": {"actor=camera:cam-1" + window, idsOf(later, tamper, ongoing, first)},
		"sort ascending": {"actor=camera:cam-1&sort=%2BstartTimestamp" + window,
			idsOf(first, ongoing, tamper, later)},
		"sort with a raw plus": {"actor=camera:cam-1&sort=+startTimestamp" + window,
			idsOf(first, ongoing, tamper, later)},
		"sort without a sign": {"actor=camera:cam-1&sort=startTimestamp" + window,
			idsOf(first, ongoing, tamper, later)},
		"sort descending": {"actor=camera:cam-1&sort=-startTimestamp" + window,
			idsOf(later, tamper, ongoing, first)},
		"escaped actor": {"actor=camera%3Acam-1" + window, idsOf(later, tamper, ongoing, first)},
		"another actor": {"actor=camera:cam-2" + window, idsOf(second)},
		"actor__in": {"actor__in=camera:cam-1,camera:cam-2" + window,
			idsOf(later, tamper, ongoing, second, first)},
		"actor__in escaped comma": {"actor__in=camera%3Acam-1%2Ccamera%3Acam-2" + window,
			idsOf(later, tamper, ongoing, second, first)},
		"actor repeated": {"actor=camera:cam-1&actor=camera:cam-2" + window,
			idsOf(later, tamper, ongoing, second, first)},
		"actor and actor__in": {"actor=camera:cam-2&actor__in=camera:cam-2" + window, idsOf(second)},
		"a bridge":            {"actor=bridge:bridge-1" + window, idsOf()},
		"type":                {"actor=camera:cam-1&type__in=" + vms.TypeTamper + window, idsOf(tamper)},
		"types joined": {"actor=camera:cam-1&type__in=" + vms.TypeTamper + "," + vms.TypeMotion +
			window, idsOf(later, tamper, ongoing, first)},
		"types joined, escaped": {"actor=camera:cam-1&type__in=" + vms.TypeTamper + "%2C" + vms.TypeMotion +
			window, idsOf(later, tamper, ongoing, first)},
		"types repeated": {"actor=camera:cam-1&type__in=" + vms.TypeTamper + "&type__in=" +
			vms.TypeMotion + window, idsOf(later, tamper, ongoing, first)},
		"public spelling of a type": {"actor=camera:cam-1&type__in=een.tamperDetectionEvent.v1" + window,
			idsOf(tamper)},
		"unknown type matches nothing": {"actor=camera:cam-1&type__in=vms.noSuchEvent.v1" + window, idsOf()},
		"start from, inclusive": {"actor=camera:cam-1&startTimestamp__gte=" + at(60) +
			"&startTimestamp__lte=" + at(9999), idsOf(later, tamper, ongoing)},
		"start from, one millisecond later": {"actor=camera:cam-1&startTimestamp__gte=2026-11-21T07:01:00.001Z&startTimestamp__lte=" + at(9999), idsOf(later, tamper)},
		"start from, a microsecond later":   {"actor=camera:cam-1&startTimestamp__gte=2026-11-21T07:01:00.000001Z&startTimestamp__lte=" + at(9999), idsOf(later, tamper)},
		"start until keeps ongoing": {"actor=camera:cam-1&" + day + "startTimestamp__lte=" + at(60),
			idsOf(ongoing, first)},
		"end until drops ongoing": {"actor=camera:cam-1&" + day + "endTimestamp__lte=" + at(100),
			idsOf(tamper, first)},
		"end until, inclusive": {"actor=camera:cam-1&" + day + "endTimestamp__lte=" + at(10),
			idsOf(first)},
		"end until, exclusive of later": {"actor=camera:cam-1&" + day +
			"endTimestamp__lte=2026-11-21T07:00:09.999Z", idsOf()},
		"end from": {"actor=camera:cam-1&endTimestamp__gte=" + at(91) + window,
			idsOf(later, tamper)},
		"raw plus arrives as a space": {"actor=camera:cam-1&startTimestamp__gte=2026-11-21T07:01:00.000+00:00&startTimestamp__lte=2026-11-21T07:01:00.000+00:00", idsOf(ongoing)},
		"another offset":              {"actor=camera:cam-1&startTimestamp__gte=2026-11-21T08:01:00.000%2B01:00&startTimestamp__lte=2026-11-21T02:01:00-05:00", idsOf(ongoing)},
		"Z, without fraction":         {"actor=camera:cam-1&startTimestamp__gte=2026-11-21T07:01:00Z&startTimestamp__lte=2026-11-21T07:01:00Z", idsOf(ongoing)},
		"from after until": {"actor=camera:cam-1&startTimestamp__gte=" + at(99) +
			"&startTimestamp__lte=" + at(0), idsOf()},
		"empty values count as absent": {"actor=camera:cam-1&type__in=&include=&sort=&pageSize=&pageToken=" +
			window, idsOf(later, tamper, ongoing, first)},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			page := b.get("/api/v3.0/events?" + c.query).page()
			require.Equal(t, c.want, ids(page.Results))
			require.Equal(t, len(c.want), page.TotalSize)
			require.Empty(t, page.NextPageToken)
			require.Empty(t, page.PrevPageToken)
		})
	}
}

func TestListRefuses(t *testing.T) {
	b := newBed(t)
	actor := "actor=camera:cam-1"
	for name, c := range map[string]struct {
		query  string
		code   int
		reason string
		words  []string
	}{
		"nothing given": {"", 400, vms.ReasonMissing,
			[]string{"actor", "startTimestamp__gte", "startTimestamp__lte or endTimestamp__lte"}},
		"no actor": {window, 400, vms.ReasonMissing, []string{"Missing required arguments: actor"}},
		"no lower bound": {actor + "&startTimestamp__lte=2026-11-21T00:00:00Z", 400, vms.ReasonMissing,
			[]string{"startTimestamp__gte"}},
		"no upper bound": {actor + "&startTimestamp__gte=2026-11-21T00:00:00Z", 400, vms.ReasonMissing,
			[]string{"startTimestamp__lte or endTimestamp__lte"}},
		"unknown arguments": {actor + window + "&zebra=1&ape=2", 400, vms.ReasonUnexpected,
			[]string{"Unexpected argument: ape, zebra"}},
		"wrong case": {actor + window + "&Include=x", 400, vms.ReasonUnexpected, []string{"Include"}},
		"unknown before missing": {"zebra=1", 400, vms.ReasonUnexpected,
			[]string{"zebra", "Missing required arguments: actor"}},
		"all wrong values":      {"actor=x&startTimestamp__gte=yesterday&startTimestamp__lte=now&pageSize=ten&sort=name", 400, vms.ReasonValue, []string{"actor:", "startTimestamp__gte:", "startTimestamp__lte:", "pageSize:", "sort:"}},
		"actor of unknown type": {"actor=toaster:1" + window, 400, vms.ReasonValue, []string{"toaster:1"}},
		"actor without id":      {"actor=camera:" + window, 400, vms.ReasonValue, nil},
		"time without offset": {actor +
			"&startTimestamp__gte=2026-11-21T00:00:00.000&endTimestamp__lte=2026-11-22T00:00:00Z", 400, vms.ReasonValue,
			[]string{"offset"}},
		"impossible date": {actor +
			"&startTimestamp__gte=2026-02-30T00:00:00Z&endTimestamp__lte=2026-11-22T00:00:00Z", 400, vms.ReasonValue,
			nil},
		"two different sorts": {actor + window + "&sort=-startTimestamp&sort=%2BstartTimestamp", 400,
			vms.ReasonValue, []string{"sort"}},
		"two different bounds": {actor + window + "&startTimestamp__gte=2026-11-20T00:00:00Z", 400, vms.ReasonValue,
			[]string{"startTimestamp__gte"}},
		"broken escape":  {actor + window + "&include=%zz", 400, vms.ReasonValue, []string{"query"}},
		"semicolon":      {actor + ";x=1" + window, 400, vms.ReasonValue, nil},
		"unknown camera": {"actor=camera:cam-77" + window, 404, vms.ReasonResource, []string{"cam-77"}},
		"one of several unknown": {"actor__in=camera:cam-1,camera:cam-77" + window, 404, vms.ReasonResource,
			[]string{"cam-77"}},
		"another account's":       {"actor=camera:cam-9" + window, 404, vms.ReasonResource, []string{"cam-9"}},
		"unknown bridge":          {"actor=bridge:bridge-7" + window, 404, vms.ReasonResource, nil},
		"garbage token":           {"pageToken=abc", 400, vms.ReasonValue, []string{"pageToken"}},
		"token of bad characters": {"pageToken=%00%ff", 400, vms.ReasonValue, []string{"pageToken"}},
		"public example token": {"pageToken=MToxMDA6MTY2MDU3NzAzNjM2Njot", 400, vms.ReasonValue,
			[]string{"pageToken"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.get("/api/v3.0/events?"+c.query).refused(c.code, c.reason, c.words...)
		})
	}
	b.t = t
	b.do("GET", "/api/v3.0/events?actor=camera:cam-2"+window, tokenRestricted, "").refused(404, vms.ReasonResource)
	b.do("GET", "/api/v3.0/events?actor=bridge:bridge-1"+window, tokenRestricted, "").refused(404, vms.ReasonResource)
	require.Empty(t, b.do("GET", "/api/v3.0/events?actor=camera:cam-1"+window, tokenRestricted, "").page().Results)
	many := strings.Repeat("camera:x,", 3)
	for i := range maxActors {
		many += fmt.Sprintf("camera:c%d,", i)
	}
	b.get("/api/v3.0/events?actor__in="+many+window).refused(400, vms.ReasonValue, "actor__in")
}

// Rule 3: data holds only what include asks for, dataSchemas always names all.
func TestListInclude(t *testing.T) {
	b := newBed(t)
	ev := motion("cam-1", 0, time.Second)
	b.put(ev)
	od, cd := vms.SchemaObject, vms.SchemaCreatorDetails
	for include, want := range map[string][]string{
		"":                                   nil,
		"data." + od:                         {od},
		od:                                   {od},
		"data.een.objectDetection.v1":        {od},
		"data." + od + ",data." + cd:         {cd, od},
		"data." + od + "%2C" + cd:            {cd, od},
		"data." + od + "&include=data." + cd: {cd, od},
		"data." + vms.SchemaFullFrame:        nil,
		"data.vms.no-such-schema":            nil,
		"status":                             nil,
	} {
		t.Run(include, func(t *testing.T) {
			b.t = t
			r := b.get("/api/v3.0/events?actor=camera:cam-1&include=" + include + window)
			page := r.page()
			require.Len(t, page.Results, 1)
			var got []string
			for _, d := range page.Results[0].Data {
				got = append(got, d.Type)
			}
			require.Equal(t, want, got)
			require.Equal(t, []string{cd, od}, page.Results[0].DataSchemas)
			if want == nil {
				require.Contains(t, string(r.body), `"data":[]`)
			}
			one := b.get("/api/v3.0/events/" + url.PathEscape(ev.ID) + "?include=" + include)
			var single vms.Event
			one.into(200, &single)
			require.Len(t, single.Data, len(want))
		})
	}
}

func TestListPages(t *testing.T) {
	b := newBed(t)
	var all []string
	for n := range 23 {
		ev := motion("cam-1", n/3, time.Second) // three events share each start
		ev.Type = []string{vms.TypeMotion, vms.TypeTamper, vms.TypeMotionInRegion}[n%3]
		ev.DataSchemas, ev.Data = []string{vms.SchemaCreatorDetails}, []vms.Data{ev.Data[0]}
		b.put(ev)
		all = append(all, ev.NaturalID())
	}
	slices.Sort(all)
	slices.Reverse(all)
	include := "&include=data." + vms.SchemaCreatorDetails

	for _, size := range []int{1, 2, 7, 22, 23, 24, 500} {
		for _, repeat := range []bool{false, true} {
			t.Run(fmt.Sprintf("size %d, filters repeated %v", size, repeat), func(t *testing.T) {
				b.t = t
				filters := fmt.Sprintf("actor=camera:cam-1%s%s&pageSize=%d", include, window, size)
				next := func(token string) string {
					q := "/api/v3.0/events?pageToken=" + url.QueryEscape(token)
					if repeat {
						q += "&" + filters
					}
					return q
				}
				var forward []string
				page := b.get("/api/v3.0/events?" + filters).page()
				require.Empty(t, page.PrevPageToken)
				var last vms.EventPage
				pages := 0
				for {
					pages++
					require.LessOrEqual(t, len(page.Results), size)
					require.Equal(t, 23, page.TotalSize)
					for _, ev := range page.Results {
						require.Len(t, ev.Data, 1, "include is remembered")
					}
					forward = append(forward, ids(page.Results)...)
					last = page
					if page.NextPageToken == "" {
						break
					}
					page = b.get(next(page.NextPageToken)).page()
				}
				require.Equal(t, all, forward)
				require.Equal(t, (23+size-1)/size, pages)

				backward := ids(last.Results)
				for page = last; page.PrevPageToken != ""; {
					page = b.get(next(page.PrevPageToken)).page()
					backward = append(ids(page.Results), backward...)
				}
				require.Equal(t, all, backward)
			})
		}
	}
	b.t = t

	// A page token with another include and size: these are applied, other filters are not looked
	// at.
	page := b.get("/api/v3.0/events?actor=camera:cam-1&pageSize=2" + window).page()
	token := url.QueryEscape(page.NextPageToken)
	again := b.get("/api/v3.0/events?actor=camera:cam-77&startTimestamp__gte=nonsense&pageSize=3" + include +
		"&pageToken=" + token).page()
	require.Equal(t, all[2:5], ids(again.Results))
	require.Len(t, again.Results[0].Data, 1)

	// Tokens are bound to what they were made for.
	b.do("GET", "/api/v3.0/events?pageToken="+token, tokenOther, "").refused(400, vms.ReasonValue, "pageToken")
	b.get("/api/v3.0/eventTypes?pageToken="+token).refused(400, vms.ReasonValue, "pageToken")
	b.get("/api/v3.0/cameras?pageToken="+token).refused(400, vms.ReasonValue, "pageToken")
	b.get("/api/v3.0/media/recordedImage.jpeg?pageToken="+token).refused(400, vms.ReasonValue, "pageToken")
	b.get("/api/v3.0/events?pageToken="+token+"&zebra=1").refused(400, vms.ReasonUnexpected, "zebra")
	for i := range len(page.NextPageToken) - 1 { // the last character may carry bits that mean nothing
		forged := []byte(page.NextPageToken)
		if forged[i] = 'A'; page.NextPageToken[i] == 'A' {
			forged[i] = 'B'
		}
		b.get("/api/v3.0/events?pageToken="+url.QueryEscape(string(forged))).refused(400, vms.ReasonValue, "pageToken")
	}
	// A token does not widen what its bearer may see.
	page = b.get("/api/v3.0/events?actor__in=camera:cam-1,camera:cam-2&pageSize=2" + window).page()
	b.do("GET", "/api/v3.0/events?pageToken="+url.QueryEscape(page.NextPageToken), tokenRestricted, "").refused(404,
		vms.ReasonResource)
}

func TestPageSizeIsClamped(t *testing.T) {
	b := newBed(t)
	for n := range 520 {
		b.put(motion("cam-1", n, time.Second))
	}
	for size, want := range map[string]int{"": 100, "0": 1, "-5": 1, "1": 1, "499": 499, "500": 500, "501": 500,
		"1000000":              500,
		"99999999999999999999": 500, "-99999999999999999999": 1} {
		page := b.get("/api/v3.0/events?actor=camera:cam-1&pageSize=" + size + window).page()
		require.Len(t, page.Results, want, "pageSize=%s", size)
		require.Equal(t, 520, page.TotalSize)
		require.NotEmpty(t, page.NextPageToken)
	}
}

func TestRecentByType(t *testing.T) {
	b := newBed(t)
	old, recent := motion("cam-1", 0, time.Second), motion("cam-1", 50, 0)
	tamper := motion("cam-1", 20, time.Second)
	tamper.Type = vms.TypeTamper
	tamper.ID = tamper.NaturalID()
	b.put(old, recent, tamper, motion("cam-2", 99, 0))
	q := "/api/v3.0/events:listRecentByType?actor=camera:cam-1&type__in="
	page := b.get(q + vms.TypeMotion + "," + vms.TypeTamper + "," + vms.TypeDeviceStatus +
		",vms.noSuchEvent.v1&include=" + vms.SchemaObject).page()
	require.Equal(t, idsOf(recent, tamper), ids(page.Results))
	require.Len(t, page.Results[0].Data, 1)
	b.get("/api/v3.0/events:listRecentByType").refused(400, vms.ReasonMissing, "actor", "type__in")
	b.get(q+vms.TypeMotion+"&sort=x").refused(400, vms.ReasonUnexpected, "sort")
	b.get("/api/v3.0/events:listRecentByType?actor=camera:cam-9&type__in="+vms.TypeMotion).refused(404,
		vms.ReasonResource)
}

// stoppable notes the last query.
type stoppable struct {
	EventStore
	q vms.Query
}

func (s *stoppable) List(q vms.Query, c *vms.Cursor) (vms.Page, error) {
	s.q = q
	return s.EventStore.List(q, c)
}

// The store can ask whether the client is still there.
func TestAListKnowsItsClient(t *testing.T) {
	b := newBed(t)
	store := &stoppable{EventStore: b.server.opts.Events}
	b.server.opts.Events = store
	require.Equal(t, 200, b.get("/api/v3.0/events?actor=camera:cam-1"+window).code)
	require.NotNil(t, store.q.Stop)
	require.Eventually(t, func() bool { return store.q.Stop() != nil }, 10*time.Second, time.Millisecond)
}
