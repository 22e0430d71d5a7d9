package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// body is a report as a client writes it, after an edit of its properties.
func body(t *testing.T, edit func(map[string]any)) string {
	t.Helper()
	raw, err := json.Marshal(motion("cam-1", 0, 4*time.Second))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(raw, &m))
	delete(m, "id")
	if edit != nil {
		edit(m)
	}
	raw, err = json.Marshal(m)
	require.NoError(t, err)
	return string(raw)
}

func (b *bed) report(body string) reply {
	b.t.Helper()
	return b.do("POST", "/api/v3.0/events", tokenBridge, body)
}

func TestReport(t *testing.T) {
	b := newBed(t)
	r := b.report(body(t, func(m map[string]any) { m["endTimestamp"] = nil }))
	var stored vms.Event
	r.into(201, &stored)
	const id = "cam-1-2026-11-21T07:00:00.000+00:00-vms.motionDetectionEvent.v1"
	require.Equal(t, id, stored.ID)
	require.True(t, stored.Ongoing())
	require.Len(t, stored.Data, 2, "the answer is the whole event")
	require.Equal(t, "/api/v3.0/events/"+id, r.header.Get("Location"))
	kept, err := b.journal.Get(id)
	require.NoError(t, err)
	require.Equal(t, stored.Data, kept.Data)

	// Again, ended and with the start in another spelling: the same event, replaced.
	b.report(body(t, func(m map[string]any) {
		m["startTimestamp"] = "2026-11-21T08:00:00+01:00"
		m["id"] = "whatever"
	})).into(201, &stored)
	require.Equal(t, id, stored.ID)
	page := b.get("/api/v3.0/events?actor=camera:cam-1" + window).page()
	require.Equal(t, []string{id}, ids(page.Results))
	require.Equal(t, t0.Add(4*time.Second), page.Results[0].EndTimestamp.Time)
}

func TestReportAlias(t *testing.T) {
	b := newBed(t)
	var stored vms.Event
	b.report(strings.ReplaceAll(body(t, nil), `"vms.`, `"een.`)).into(201, &stored)
	require.Equal(t, vms.TypeMotion, stored.Type)
	require.Equal(t, vms.CreatorMotion, stored.CreatorID)
	require.Equal(t, []string{vms.SchemaCreatorDetails, vms.SchemaObject}, stored.DataSchemas)
	require.Equal(t, vms.SchemaObject, stored.Data[1].Type)
}

func TestReportRefuses(t *testing.T) {
	set := func(k string, v any) func(map[string]any) { return func(m map[string]any) { m[k] = v } }
	b := newBed(t)
	for name, c := range map[string]struct {
		body   string
		code   int
		reason string
		words  []string
	}{
		"not JSON":      {"{", 400, vms.ReasonJSON, []string{"Invalid JSON"}},
		"not an object": {"[]", 400, vms.ReasonJSON, nil},
		"null":          {"null", 400, vms.ReasonJSON, nil},
		"not UTF-8":     {"{\"a\":\"\xff\"}", 400, vms.ReasonJSON, []string{"UTF-8"}},
		"two values":    {body(t, nil) + "{}", 400, vms.ReasonJSON, nil},
		"empty object": {"{}", 400, vms.ReasonMissing,
			[]string{"startTimestamp, endTimestamp, span, accountId, actorId, actorAccountId, actorType, creatorId, " +
				"type, dataSchemas, data"}},
		"unknown property": {body(t, set("colour", "red")), 400, vms.ReasonUnexpected, []string{"colour"}},
		"null span":        {body(t, set("span", nil)), 400, vms.ReasonValue, []string{"span: must not be null"}},
		"end before start": {body(t, set("endTimestamp", "2026-11-21T06:59:59.999Z")), 400, vms.ReasonValue,
			[]string{"endTimestamp"}},
		"point with length": {body(t, set("span", false)), 400, vms.ReasonValue, []string{"span is false"}},
		"unknown type": {body(t, set("type", "vms.fooEvent.v1")), 400, vms.ReasonValue,
			[]string{"vms.fooEvent.v1"}},
		"unknown actor type": {body(t, set("actorType", "toaster")), 400, vms.ReasonValue, []string{"actorType"}},
		"no schemas": {body(t, func(m map[string]any) { m["dataSchemas"], m["data"] = []string{}, []any{} }),
			400, vms.ReasonValue, []string{"dataSchemas"}},
		"several at once": {body(t, func(m map[string]any) {
			m["type"], m["actorType"], m["creatorId"] = 1, "x", ""
		}), 400, vms.ReasonValue,
			[]string{"type:", "actorType:", "creatorId:"}},
		"slash in an id": {body(t, set("actorId", "a/b")), 400, vms.ReasonValue, []string{"actorId"}},
		"another account": {body(t, set("accountId", "acc-2")), 403, vms.ReasonPermission,
			[]string{"acc-2", "acc-1"}},
		"actor of another": {body(t, set("actorAccountId", "acc-2")), 403, vms.ReasonPermission,
			[]string{"actorAccountId"}},
		"unknown camera":       {body(t, set("actorId", "cam-77")), 404, vms.ReasonResource, []string{"cam-77"}},
		"camera as a bridge":   {body(t, set("actorType", "bridge")), 404, vms.ReasonResource, nil},
		"a foreign camera":     {body(t, set("actorId", "cam-9")), 404, vms.ReasonResource, nil},
		"too large":            {`{"x":"` + strings.Repeat("a", maxBodyBytes) + `"}`, 413, vms.ReasonTooLarge, nil},
		"deeply nested":        {strings.Repeat("[", 20000), 400, vms.ReasonJSON, nil},
		"store decides itself": {body(t, set("creatorId", "vms.refuseMe")), 409, vms.ReasonExists, []string{"taken"}},
		"store is broken": {body(t, set("creatorId", "vms.breakMe")), 503, vms.ReasonServiceUnavailable,
			[]string{"try again"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.storeFn = func(ev vms.Event) error {
				if ev.CreatorID == "vms.refuseMe" {
					return fmt.Errorf("put: %w", vms.NewError(409, vms.ReasonExists, "taken"))
				}
				return errors.New("/var/lib/secret/path: disk full")
			}
			r := b.report(c.body)
			r.refused(c.code, c.reason, c.words...)
			require.NotContains(t, string(r.body), "/var/lib")
			if c.code == 503 {
				require.NotEmpty(t, r.header.Get("Retry-After"))
			}
		})
	}
	b.t = t
	b.do("POST", "/api/v3.0/events", tokenReader, body(t, nil)).refused(403, vms.ReasonPermission, "vms.report")
	b.do("POST", "/api/v3.0/events", tokenRestricted, body(t, set("actorId", "cam-2"))).refused(404, vms.ReasonResource)
	b.do("POST", "/api/v3.0/events", tokenBridge, body(t, nil), "Content-Type", "text/plain").refused(415,
		"contentNotSupported", "text/plain", "application/json")
	b.do("POST", "/api/v3.0/events?x=1", tokenBridge, body(t, nil)).refused(400, vms.ReasonUnexpected, "x")
	b.do("POST", "/api/v3.0/events", "", "{").refused(401, vms.ReasonUnauthenticated) // before the body is looked at
	_, err := b.journal.Get("cam-1-2026-11-21T07:00:00.000+00:00-vms.motionDetectionEvent.v1")
	require.ErrorIs(t, err, journal.ErrNotFound, "nothing refused was stored")
}

func TestReportContentTypes(t *testing.T) {
	b := newBed(t)
	for _, ct := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON", ""} {
		req, err := http.NewRequest("POST", b.url+"/api/v3.0/events/", strings.NewReader(body(t, nil)))
		require.NoError(t, err)
		req.Header.Set("Authorization", "bearer  "+tokenBridge)
		if ct != "" {
			req.Header.Set("Content-Type", ct)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 201, res.StatusCode, ct)
	}
	b.report("\xef\xbb\xbf"+body(t, nil)).into(201, &vms.Event{}) // with a byte order mark
}

func TestReportGoesOnwards(t *testing.T) {
	for _, report := range []bool{false, true} {
		b := newBed(t)
		b.server.opts.Report = report
		b.report(body(t, nil)).into(201, &vms.Event{})
		stats, err := b.journal.OutboxStats()
		require.NoError(t, err)
		require.Equal(t, report, stats.Waiting == 1)
	}
}

func TestGetEvent(t *testing.T) {
	b := newBed(t)
	ev := motion("cam-1", 0, time.Second)
	foreign := motion("cam-9", 0, time.Second)
	b.put(ev, foreign)
	for name, path := range map[string]string{
		"raw":               ev.ID,
		"escaped":           strings.NewReplacer(":", "%3A", "+", "%2B").Replace(ev.ID),
		"plus as a space":   strings.ReplaceAll(ev.ID, "+", "%20"),
		"trailing slash":    ev.ID + "/",
		"escaped and slash": strings.ReplaceAll(ev.ID, "+", "%2B") + "/",
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			var got vms.Event
			r := b.get("/api/v3.0/events/" + path)
			r.into(200, &got)
			require.Equal(t, ev.ID, got.ID)
			require.Contains(t, string(r.body), `"data":[]`)
		})
	}
	b.t = t
	b.get("/api/v3.0/events/none").refused(404, vms.ReasonResource)
	b.get("/api/v3.0/events/"+foreign.ID).refused(404, vms.ReasonResource)
	b.do("GET", "/api/v3.0/events/"+motion("cam-2", 0, 1).ID, tokenRestricted, "").refused(404, vms.ReasonResource)
	b.get("/api/v3.0/events/"+ev.ID+"?pageSize=1").refused(400, vms.ReasonUnexpected, "pageSize")
}
