package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// When there are images is asked of the bridge, page by page, as it takes no page tokens from here;
// gaps come once, with their reasons.
func TestRecordedIsAskedOfTheBridge(t *testing.T) {
	const intervals = 1203 // a minute each, with a minute between
	asked := 0
	bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		q := r.URL.Query()
		require.Equal(t, vms.PathMedia, r.URL.Path)
		require.Equal(t, []string{"cam-1", "preview", ""},
			[]string{q.Get("deviceId"), q.Get("type"), q.Get("pageToken")})
		require.Equal(t, "cam-1", r.Header.Get(vms.HeaderCamera))
		require.Equal(t, "Bearer im4ge", r.Header.Get("Authorization"))
		from, err := vms.ParseTime(q.Get("startTimestamp__gte"))
		require.NoError(t, err)
		size, err := strconv.Atoi(q.Get("pageSize"))
		require.NoError(t, err)
		require.LessOrEqual(t, size, 500)
		page := map[string]any{"nextPageToken": "", "prevPageToken": ""}
		results := []map[string]string{}
		for n := range intervals {
			start := began.Add(time.Duration(2*n) * time.Minute)
			if start.Before(from.Time) {
				continue
			}
			if len(results) == size {
				page["nextPageToken"] = "its own"
				break
			}
			results = append(results,
				map[string]string{"startTimestamp": vms.At(start).String(),
					"endTimestamp": vms.At(start.Add(time.Minute)).String()})
		}
		page["results"] = results
		page["gaps"] = []map[string]any{
			{"startTimestamp": vms.At(began.Add(time.Minute)).String(),
				"endTimestamp": vms.At(began.Add(2 * time.Minute)).String(), "reason": "offline\x1b[31m"},
			{"startTimestamp": vms.At(began.Add(3 * time.Minute)).String(), "endTimestamp": nil, "reason": "off"}}
		require.NoError(t, json.NewEncoder(w).Encode(page))
	}))
	defer bridge.Close()
	b, _ := imagesOf(t, bridge.URL)
	ask := func(most int) ([]server.Interval, []server.Gap) {
		found, gaps, err := b.Recorded(t.Context(), "acc-1", "cam-1", vms.ImagePreview, began, began.Add(100*time.Hour),
			most)
		require.NoError(t, err)
		return found, gaps
	}
	found, gaps := ask(10_000)
	require.Len(t, found, intervals)
	for n, v := range found {
		require.Equal(t, began.Add(time.Duration(2*n)*time.Minute), v.Start)
		require.Equal(t, v.Start.Add(time.Minute), v.End)
	}
	require.Equal(t, 3, asked)
	require.Equal(t,
		[]server.Gap{{Start: began.Add(time.Minute), End: began.Add(2 * time.Minute), Reason: "offline?[31m"},
			{Start: began.Add(3 * time.Minute), Reason: "off"}}, gaps)
	found, _ = ask(501)
	require.Len(t, found, 501)
	require.Empty(t, b.busy)
}

func TestRecordedRefusals(t *testing.T) {
	body, err := json.Marshal(vms.NewError(404, vms.ReasonEndpoint, "The API endpoint was not found"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		code int
		body string
		want int
	}{
		"an older version": {404, string(body), 503},
		"its token is old": {401, "", 503},
		"no JSON":          {200, "<html>", 503},
		"without end":      {200, strings.Repeat(" ", 8<<20) + "{}", 503},
	} {
		bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = fmt.Fprint(w, c.body)
		}))
		b, log := imagesOf(t, bridge.URL)
		_, _, err := b.Recorded(t.Context(), "acc-1", "cam-1", vms.ImagePreview, began, began.Add(time.Hour), 10)
		bridge.Close()
		var e *vms.Error
		require.True(t, errors.As(err, &e), "%s: %v", name, err)
		require.Equal(t, c.want, e.Code, name)
		require.NotContains(t, log.String(), bridge.URL, name)
		require.Empty(t, b.busy, name)
	}
	b, _ := imagesOf(t, "http://127.0.0.1:1")
	_, _, err = b.Recorded(t.Context(), "acc-1", "nobody", vms.ImagePreview, began, began.Add(time.Hour), 10)
	var e *vms.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 404, e.Code)
}
