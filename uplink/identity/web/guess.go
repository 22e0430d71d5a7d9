package web

import (
	"net/http"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
)

// guess is a request that could be one, and what it took of the limits.
type guess struct {
	w     *Web
	from  string // the address, as the limits know it
	mark  string // what the device says that it is
	known bool   // it is a known device of the user whom the request is about
	line  string // whose turn the request waits for
	taken []func()
}

func (w *Web) guess(r *http.Request) *guess {
	g := &guess{w: w, from: addressKey(w.Client(r))}
	g.line = g.from
	if c, err := r.Cookie(api.CookieMark); err == nil {
		g.mark = c.Value
	}
	return g
}

// address counts the request against its address, before more of it is read. One that shows a mark
// is counted by about.
func (g *guess) address() bool { return g.mark != "" || g.countAddress() }

func (g *guess) countAddress() bool {
	return g.w.work.allow(g.from) && g.take(g.w.byOrigin, g.from)
}

// about counts the request against the limits of whom it is about: an address or id, folded, or ""
// for nobody. A device that is known to the user has limits of its own, so that strangers who guess
// from anywhere, be it behind the same router, keep nobody out.
func (g *guess) about(who string) (bool, error) {
	list, err := g.w.sessions.Knows(g.mark)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(list, func(k session.Known) bool {
		return who == "" || model.Fold(k.User.Email) == who || k.User.ID == who
	})
	if at >= 0 {
		g.known, g.line = true, "device "+list[at].Device
		return g.w.work.allow(g.line) && g.take(g.w.byDevice, g.line), nil
	}
	if g.mark != "" && !g.countAddress() {
		return false, nil
	}
	if who == "" {
		return true, nil
	}
	free := g.w.o.Limits.Free != (Limit{}) && g.take(g.w.free, g.from+" "+who)
	return free || g.take(g.w.byUser, who), nil
}

func (g *guess) take(l *limiter, key string) bool {
	if !l.allow(key) {
		return false
	}
	g.taken = append(g.taken, func() { l.giveBack(key) })
	return true
}

// giveBack makes the request count no more as a guess: what it showed was right.
func (g *guess) giveBack() {
	for _, back := range g.taken {
		back()
	}
	g.taken = nil
}

// inTurn is the request with its place in the line for what costs much.
func (g *guess) inTurn(r *http.Request) *http.Request {
	return r.WithContext(identity.WithClient(r.Context(), g.line, g.known))
}
