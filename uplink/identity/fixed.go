package identity

import (
	"fmt"
)

// Fixed is a list of tokens that does not change while the program runs: those of the bridge's YAML
// file and its own image token. Safe for concurrent use once made.
type Fixed struct {
	entries []fixedEntry
}

type fixedEntry struct {
	hash      []byte
	principal Principal
}

// NewFixed makes an empty list, which refuses everyone.
func NewFixed() *Fixed { return &Fixed{} }

// Add lets the holder of token in as p. An empty token is refused, since an empty Authorization
// header would match it. Fields of p.User that are empty are filled from p. Not to be called while
// the list is in use.
func (f *Fixed) Add(token string, p Principal) error {
	if token == "" {
		return fmt.Errorf("token of %q is empty: give it a value, for example the output of: openssl rand -hex 32",
			p.Name)
	}
	if p.Kind == "" {
		p.Kind = KindUser
	}
	if p.TokenID == "" {
		p.TokenID = p.Name
	}
	if p.Holder == "" {
		p.Holder = "token:" + p.TokenID
	}
	p = p.Filled()
	f.entries = append(f.entries, fixedEntry{HashToken(token), p})
	return nil
}

// Authenticate finds whose token it is. It looks at every entry, so that the time tells nothing.
func (f *Fixed) Authenticate(token string) (Principal, error) {
	if token == "" {
		return Principal{}, ErrUnknown
	}
	hash, found := HashToken(token), -1
	for i, e := range f.entries {
		if SameHash(hash, e.hash) {
			found = i
		}
	}
	if found < 0 {
		return Principal{}, ErrUnknown
	}
	return f.entries[found].principal, nil
}

// Filled is the principal with what users/self needs: an id, a name, an account and a language.
func (p Principal) Filled() Principal {
	u := &p.User
	if u.ID == "" {
		u.ID = p.TokenID
	}
	if u.FirstName == "" && u.LastName == "" {
		u.FirstName = p.Name
	}
	if u.AccountID == "" {
		u.AccountID = p.AccountID
	}
	if u.Language == "" {
		u.Language = "en"
	}
	return p
}
