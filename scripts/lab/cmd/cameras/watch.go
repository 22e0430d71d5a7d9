package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// watch asks a bridge for its status all the time, as its page does, and notes what an installer
// would: when all cameras are there, and how long an answer takes.
type watch struct {
	name    string
	began   time.Time
	client  http.Client
	online  time.Duration // until all cameras were; 0: they are not yet
	most    int           // that were at a time
	answers int
	slowest time.Duration
	memory  int64 // most PSS, bytes
	done    chan struct{}
}

const askEvery = 500 * time.Millisecond

// watchBridge goes on until ctx ends; done is closed when it has.
func watchBridge(ctx context.Context, b *bridge, dir string) *watch {
	w := &watch{name: b.title, began: time.Now(), done: make(chan struct{})}
	socket := filepath.Join(dir, "data", "control.sock")
	w.client.Timeout = time.Minute
	w.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	go func() {
		defer close(w.done)
		for sleep(ctx, askEvery) == nil {
			w.ask(ctx)
			if u, err := b.program.usage(ctx); err == nil {
				w.memory = max(w.memory, u.memory)
			}
		}
	}()
	return w
}

func (w *watch) ask(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://bridge/status", http.NoBody)
	if err != nil {
		return
	}
	at := time.Now()
	answer, err := w.client.Do(req)
	if err != nil {
		return // it is not up yet
	}
	var status struct {
		Cameras []struct {
			Online bool `json:"online"`
		} `json:"cameras"`
	}
	err = json.NewDecoder(answer.Body).Decode(&status)
	_ = answer.Body.Close()
	if err != nil {
		return
	}
	w.answers++
	w.slowest = max(w.slowest, time.Since(at))
	n := 0
	for _, c := range status.Cameras {
		if c.Online {
			n++
		}
	}
	w.most = max(w.most, n)
	if w.online == 0 && n > 0 && n == len(status.Cameras) {
		w.online = time.Since(w.began)
	}
}

// line is what was seen, when done is closed.
func (w *watch) line() string {
	online := fmt.Sprintf("all online %.1f s after the start", w.online.Seconds())
	if w.online == 0 {
		online = fmt.Sprintf("never all online, %d at most", w.most)
	}
	return fmt.Sprintf("%s: %s; status asked %d times, the slowest answer after %.2f s; at most %.0f MB (PSS).", w.name,
		online, w.answers, w.slowest.Seconds(), float64(w.memory)/1e6)
}
