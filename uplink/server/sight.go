package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// sightTime is how long streams go by what was found out of a token: so long may one that was
// revoked still see.
const sightTime = time.Second

// sights are what the tokens of open streams may see at this moment, found out once for all streams
// of a token. The zero value is ready.
type sights struct {
	mu    sync.Mutex // guards what follows
	all   map[string]*sight
	swept time.Time
}

// sight is what one token may see from one address.
type sight struct {
	mu     sync.Mutex // guards what follows; held while it is found out
	since  time.Time
	p      identity.Principal
	err    error
	events bool               // it may see events at all
	shared map[string]bool    // accounts that share something with it
	actors map[vms.Actor]bool // those that were asked for
}

// of is the sight of a request's token. Those that nobody has asked for lately are forgotten.
func (l *sights) of(r *http.Request) *sight {
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // an account may limit its users to addresses
	key := host + " " + r.Header.Get("Authorization")
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.all == nil || now.Sub(l.swept) > time.Minute {
		l.all, l.swept = map[string]*sight{}, now
	}
	if l.all[key] == nil {
		l.all[key] = &sight{}
	}
	return l.all[key]
}

// forget has the next question about a request's token find out anew: what was granted just now is
// seen by a stream that is opened then.
func (l *sights) forget(r *http.Request) {
	at := l.of(r)
	at.mu.Lock()
	defer at.mu.Unlock()
	at.since = time.Time{}
}

// principal is who the caller is by now, at most sightTime ago.
func (s *Server) principal(c *call) (identity.Principal, *sight, error) {
	at := s.sights.of(c.r)
	at.mu.Lock()
	defer at.mu.Unlock()
	if now := time.Now(); at.since.IsZero() || now.Sub(at.since) >= sightTime {
		p, err := authenticate(s.opts.Auth, c.r)
		at.find(p, err, now)
	}
	return at.p, at, at.err
}

// find notes who a credential stands for, as it was found out at now. The caller holds mu.
func (at *sight) find(p identity.Principal, err error, now time.Time) {
	at.p, at.err = p, err
	at.since, at.actors, at.shared = now, map[vms.Actor]bool{}, map[string]bool{}
	at.events = err == nil && p.ViewsEvents()
	if p.Grants != nil {
		for _, account := range p.Grants.Shared {
			at.shared[account] = true
		}
	}
}

// seen are those of the events that a principal was found to see. It uses the slice again. The
// error is the store's.
func (s *Server) seen(ctx context.Context, at *sight, p identity.Principal, events []*feed.Told) ([]*feed.Told,
	error) {
	at.mu.Lock()
	defer at.mu.Unlock()
	kept := events[:0]
	for _, t := range events {
		sees, err := s.seesLocked(ctx, at, p, &t.Event)
		if err != nil {
			return nil, err
		}
		if sees {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// seesLocked reports whether what a principal was found to see holds an event. The error is the
// store's: it is not known.
func (s *Server) seesLocked(ctx context.Context, at *sight, p identity.Principal, ev *vms.Event) (bool, error) {
	if !at.events {
		return false, nil
	}
	a := vms.Actor{Type: ev.ActorType, ID: ev.ActorID, Account: ev.ActorAccountID}
	seen, ok := at.actors[a]
	if !ok {
		its := vms.Actor{Type: a.Type, ID: p.Called(a.Account, a)}
		if p.Find(its).Account == a.Account {
			err, refusal := s.checkActor(ctx, &call{principal: p}, its), (*vms.Error)(nil)
			if err != nil && !errors.As(err, &refusal) {
				return false, err
			}
			seen = err == nil
		}
		at.actors[a] = seen
	}
	return seen, nil
}

// concern are those of the events whose accounts may be of interest to a principal at all. It uses
// the slice again.
func (at *sight) concern(p identity.Principal, events []*feed.Told) []*feed.Told {
	at.mu.Lock()
	defer at.mu.Unlock()
	kept := events[:0]
	for _, t := range events {
		if account := t.Event.ActorAccountID; account == p.AccountID || at.shared[account] {
			kept = append(kept, t)
		}
	}
	return kept
}

// follow calls cancel when the credential of a stream is no longer good, or stands for another
// account. It returns when ctx is done.
func (s *Server) follow(ctx context.Context, cancel func(), c *call) {
	s.watch(ctx, cancel, c, min(s.recheck, sightTime), func() (identity.Principal, error) {
		p, _, err := s.principal(c)
		return p, err
	})
}

// gone says whether a credential has ended since a request began, or stands for another account.
func gone(c *call, p identity.Principal, err error) bool {
	refusal := (*vms.Error)(nil)
	return errors.As(err, &refusal) || err == nil && p.AccountID != c.principal.AccountID
}
