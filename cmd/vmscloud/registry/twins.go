package registry

import (
	"slices"
	"time"
)

// A bridge's image token is another one each time that the bridge starts. One that was replaced and
// comes back is of another bridge that runs: a box was made from a copy of another one's disk, and
// both have one id and credential.

const (
	// twinsWithin is in which time two replaced tokens must come back for there to be two bridges,
	// and how long that holds. Bridges register once a minute.
	twinsWithin = 5 * time.Minute
	// maxFormer bounds the replaced tokens that are remembered of a bridge.
	maxFormer = 8
)

// twins is what is known of the image tokens of a bridge, since the service started.
type twins struct {
	former []string     // those that were replaced, the latest ones last
	back   [2]time.Time // when the last two of those came back
}

// noteTwins takes in that a bridge, whose record is b, registers with an image token.
func (r *Registry) noteTwins(b Bridge, token string) {
	if b.Token == "" || token == "" || b.Token == token {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.account(b.Account).twins
	t := all[b.ID]
	if slices.Contains(t.former, token) {
		t.back = [2]time.Time{t.back[1], r.now()}
	}
	t.former = append(slices.DeleteFunc(slices.Clone(t.former), func(s string) bool { return s == b.Token }), b.Token)
	t.former = t.former[max(0, len(t.former)-maxFormer):]
	all[b.ID] = t
}

// Twins reports whether two bridges that run have registered as one.
func (r *Registry) Twins(account, bridge string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := r.look(account).twins[bridge]
	return !t.back[0].IsZero() && r.now().Sub(t.back[0]) < twinsWithin
}
