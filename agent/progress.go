package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"vmsbridge/agent/health"
)

// writePatience is how long one event may take to become durable: a card that erases takes seconds.
const writePatience = 30 * time.Second

// watchdog feeds the service manager's with what has moved: the cameras' supervisor and their pipelines, the journal, and the
// local HTTP. What only costs one camera, or what a restart would not cure (a full disk, a service that is away), does not count.
func (a *Agent) watchdog(listen net.Addr) *health.Watchdog {
	return &health.Watchdog{Every: a.opts.Manager.WatchdogEvery(), Alive: a.opts.Manager.Alive, Log: a.log, Signs: []health.Sign{
		{Name: "cameras", Do: a.camerasMove}, {Name: "journal", Do: a.journalMoves},
		{Name: "local HTTP", Do: func(ctx context.Context) error { return a.httpAnswers(ctx, listen) }},
	}}
}

// camerasMove asks the supervisor, and looks for one pipeline at least that comes round.
func (a *Agent) camerasMove(ctx context.Context) error {
	if err := a.cameras.Ping(ctx); err != nil {
		return err
	}
	list, now := a.cameras.Workers(), time.Now()
	for _, p := range list {
		if !stuck(p.Worker.Turned(), now) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("all %d pipelines stand still", len(list))
}

// journalMoves reads from the journal, which waits for whoever holds its lock, and looks for a write that hangs.
func (a *Agent) journalMoves(ctx context.Context) error {
	if began := a.archive.Events.Writing(); !began.IsZero() && time.Since(began) > writePatience {
		return fmt.Errorf("an event has been on its way to the disk for %s", time.Since(began).Round(time.Second))
	}
	read := make(chan error, 1)
	go func() { _, err := a.archive.Journal.OutboxStats(); read <- err }() // ends with the process where the disk hangs
	select {
	case <-read: // an error is an answer too: the outlet says what is wrong
		return nil
	case <-ctx.Done():
		return errors.New("it does not answer")
	}
}

// httpAnswers asks the bridge's own port, as a client does.
func (a *Agent) httpAnswers(ctx context.Context, listen net.Addr) error {
	scheme := "http"
	transport := &http.Transport{DisableKeepAlives: true}
	if a.cfg().API.TLS.Cert != "" {
		scheme = "https"
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // it is our own port, and nothing is sent
	}
	if tcp, ok := listen.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		listen = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}
		if tcp.IP.To4() == nil {
			listen = &net.TCPAddr{IP: net.IPv6loopback, Port: tcp.Port}
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+listen.String()+"/healthz", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return fmt.Errorf("ask the bridge's own port: %w", err)
	}
	return res.Body.Close()
}
