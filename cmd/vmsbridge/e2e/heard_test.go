package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"vmsbridge/uplink/vms"
)

// heard is what somebody hears who follows the service's events of motion, over its restarts.
type heard struct {
	mu    sync.Mutex             // guards times
	times map[string][]time.Time // by event: when it was told
	wait  sync.WaitGroup
}

// follow subscribes, and again whenever the stream ends, until the test ends.
func follow(t *testing.T, s *site, cameras []*filmed) *heard {
	h := &heard{times: map[string][]time.Time{}}
	ctx, stop := context.WithCancel(t.Context())
	var actors []string
	for _, f := range cameras {
		actors = append(actors, `"camera:`+f.id+`"`)
	}
	wish := `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":[` + strings.Join(actors, ",") +
		`],"types":[{"id":"` + vms.TypeMotion + `"}]}]}`
	h.wait.Go(func() {
		for ctx.Err() == nil {
			h.once(ctx, s, wish)
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	t.Cleanup(func() { stop(); h.wait.Wait() })
	return h
}

// once follows one stream to its end.
func (h *heard) once(ctx context.Context, s *site, wish string) {
	ask := func(method, address, body string) (io.ReadCloser, bool) {
		r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
		if err != nil {
			return nil, false
		}
		r.Header.Set("Authorization", "Bearer "+s.token)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, false
		}
		return res.Body, res.StatusCode < 300
	}
	body, ok := ask(http.MethodPost, s.service+"/api/v3.0/eventSubscriptions", wish)
	if body == nil {
		return
	}
	var made struct {
		Delivery struct {
			URL string `json:"sseUrl"`
		} `json:"deliveryConfig"`
	}
	err := json.NewDecoder(body).Decode(&made)
	_ = body.Close()
	if err != nil || !ok {
		return
	}
	if body, ok = ask(http.MethodGet, made.Delivery.URL, ""); body == nil {
		return
	}
	defer body.Close()
	for lines := bufio.NewScanner(body); ok && lines.Scan(); {
		var ev vms.Event
		if text, is := strings.CutPrefix(lines.Text(), "data: "); is && json.Unmarshal([]byte(text), &ev) == nil {
			h.mu.Lock()
			h.times[ev.ID] = append(h.times[ev.ID], time.Now())
			h.mu.Unlock()
		}
	}
}

// tooOften names the events that were told more than twice, for their beginning and their end,
// while nothing was disturbed, of all that were told.
func (h *heard) tooOften(disturbed []span) (ids []string, all int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, times := range h.times {
		if len(times) > 2 && (span{times[0], times[len(times)-1]}).calm(disturbed) {
			ids = append(ids, id)
		}
	}
	return ids, len(h.times)
}
