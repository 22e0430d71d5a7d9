package store

import (
	"maps"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// machine is what a token of a machine may do. It stands in memory: thousands of bridges keep a
// tunnel open, and each has its token looked at every ten seconds. Nobody but this process changes
// the records, so it holds until this one does.
type machine struct {
	hash    []byte
	who     identity.Principal
	expires time.Time // zero: never
}

// written are the tokens and accounts whose records a transaction changed.
type written struct{ tokens, accounts []string }

func (w *written) note(bucket string, key []byte) {
	switch {
	case w == nil:
	case bucket == bucketTokens:
		w.tokens = append(w.tokens, string(key))
	case bucket == bucketAccounts:
		w.accounts = append(w.accounts, string(key))
	}
}

// machine is who has a token, if that is known in memory, and which writes it was known after.
func (s *Store) machine(text string) (p identity.Principal, writes uint64, ok bool) {
	id, valid := identity.BearerID(text)
	if !valid {
		return p, 0, false
	}
	s.mu.Lock()
	m, ok := s.machines[id]
	writes = s.writes
	s.mu.Unlock()
	if !ok || !identity.SameHash(identity.HashToken(text), m.hash) ||
		!m.expires.IsZero() && !s.Now().Before(m.expires) || !s.records.Held() {
		return p, writes, false
	}
	return m.who, writes, true
}

// rememberMachine notes what a token was found to be, unless something was written since writes.
// What a user, a session or a client has a part in is found out each time.
func (s *Store) rememberMachine(t model.Token, p identity.Principal, writes uint64) {
	if t.UserID != "" || t.ClientID != "" || t.Parent != "" || t.Session != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writes == writes {
		s.machines[t.ID] = machine{t.Hash, p, t.Expires}
	}
}

// forgetMachines has those asked for again whose tokens or accounts were written.
func (s *Store) forgetMachines(w written) {
	if len(w.tokens)+len(w.accounts) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	for _, id := range w.tokens {
		delete(s.machines, id)
	}
	if len(w.accounts) != 0 {
		maps.DeleteFunc(s.machines, func(_ string, m machine) bool {
			return slices.Contains(w.accounts, m.who.AccountID)
		})
	}
}
