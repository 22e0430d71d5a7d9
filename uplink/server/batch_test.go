package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// many is a request with the events of these starts, one of them changed.
func many(t *testing.T, edits ...func(map[string]any)) string {
	t.Helper()
	out := vms.ReportMany{}
	for i, edit := range edits {
		out.Events = append(out.Events, json.RawMessage(body(t, func(m map[string]any) {
			m["startTimestamp"] = "2026-11-21T07:00:0" + string(rune('0'+i)) + ".000+00:00"
			m["endTimestamp"] = "2026-11-21T07:00:30.000+00:00"
			if edit != nil {
				edit(m)
			}
		})))
	}
	raw, err := json.Marshal(out)
	require.NoError(t, err)
	return string(raw)
}

// verdicts is the code of each result, 201 for stored.
func (b *bed) verdicts(request string, header ...string) (codes []int, ids []string) {
	b.t.Helper()
	var answer vms.ReportedMany
	b.do("POST", vms.PathReportMany, tokenBridge, request, header...).into(200, &answer)
	for _, r := range answer.Results {
		if r.Error == nil {
			codes, ids = append(codes, 201), append(ids, r.ID)
		} else {
			require.NotContains(b.t, r.Error.Message, "secret detail")
			codes = append(codes, r.Error.Code)
		}
	}
	return codes, ids
}

func TestReportMany(t *testing.T) {
	b := newBed(t)
	var known vms.Registered
	b.do("POST", vms.PathRegister, tokenBridge, `{"id":"bridge-1"}`).into(200, &known)
	require.Equal(t, reportAtOnce, known.ReportAtOnce)

	bad := func(m map[string]any) { m["span"] = "yes" }
	stranger := func(m map[string]any) { m["actorId"] = "nobody" }
	foreign := func(m map[string]any) { m["accountId"] = "acc-2" }
	codes, ids := b.verdicts(many(t, nil, bad, nil))
	require.Equal(t, []int{201, 400, 201}, codes)
	for _, id := range ids {
		_, err := b.journal.Get(id)
		require.NoError(t, err)
	}
	codes, _ = b.verdicts(many(t, nil, stranger, nil))
	require.Equal(t, []int{201, 404}, codes, "what stands behind is not looked at: the actor may be known in a moment")
	codes, _ = b.verdicts(many(t, foreign, nil))
	require.Equal(t, []int{403}, codes)
	codes, _ = b.verdicts(many(t))
	require.Empty(t, codes)

	b.do("POST", vms.PathReportMany, "", many(t, nil)).refused(401, vms.ReasonUnauthenticated)
	b.do("POST", vms.PathReportMany, tokenBridge, `{"events":7}`).refused(400, vms.ReasonJSON)
	b.do("POST", vms.PathReportMany, tokenBridge, `{"event":[]}`).refused(400, vms.ReasonJSON)
	b.do("POST", vms.PathReportMany, tokenBridge, `{"events":[`+strings.Repeat("1,", maxBatchEvents)+`1]}`).refused(413, vms.ReasonTooLarge)
}

// What cannot be stored together is stored one by one, up to the first that cannot be stored now.
func TestReportManyToAStoreInTrouble(t *testing.T) {
	b := newBed(t)
	stored := 0
	b.storeFn = func(vms.Event) error {
		if stored++; stored == 3 {
			return errors.New("secret detail")
		}
		return nil
	}
	codes, _ := b.verdicts(many(t, nil, nil, nil, nil))
	require.Equal(t, []int{201, 201, 503}, codes)
}

// Where the store cannot be read, as on a full disk, nothing is stored either: come again.
func TestReportToAStoreThatCannotBeRead(t *testing.T) {
	b := newBed(t)
	b.unreadable = errors.New("secret detail")
	b.report(body(t, nil)).refused(503, vms.ReasonServiceUnavailable, "try again")
	codes, _ := b.verdicts(many(t, nil, nil))
	require.Equal(t, []int{503}, codes)
}

func TestPackedBodies(t *testing.T) {
	b := newBed(t)
	pack := func(s string) string {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return out.String()
	}
	r := b.do("POST", vms.PathEvents, tokenBridge, pack(body(t, nil)), "Content-Encoding", "gzip")
	require.Equal(t, 201, r.code, "%s", r.body)
	require.Equal(t, "gzip", r.header.Get("Accept-Encoding"), "clients learn it from any answer to a report")
	for _, coding := range []string{"GZIP", "x-gzip"} {
		codes, _ := b.verdicts(pack(many(t, nil, nil)), "Content-Encoding", coding)
		require.Equal(t, []int{201, 201}, codes)
	}

	b.do("POST", vms.PathEvents, tokenBridge, body(t, nil), "Content-Encoding", "gzip").refused(400, vms.ReasonJSON)
	whole := pack(body(t, nil))
	b.do("POST", vms.PathEvents, tokenBridge, whole[:len(whole)/2], "Content-Encoding", "gzip").refused(400,
		vms.ReasonJSON)
	b.do("POST", vms.PathEvents, tokenBridge, body(t, nil), "Content-Encoding", "br").refused(415, vms.ReasonContent)
	// A small body that unpacks to more than is allowed.
	b.do("POST", vms.PathEvents, tokenBridge, pack(strings.Repeat(" ", maxBodyBytes+1)), "Content-Encoding",
		"gzip").refused(413, vms.ReasonTooLarge)
}
