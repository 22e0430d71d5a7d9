package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/vms"
)

// AddToken stores a new bearer token and returns it, without its hash, with the secret text that
// its holder sends; that cannot be read again. ID, Hash and Created are set here. Kind and an
// AccountID that exists are needed; a UserID must exist, in that account or one that may enter it.
func (tx *Tx) AddToken(t model.Token) (model.Token, string, error) {
	if !t.Kind.Valid() {
		return model.Token{}, "", fmt.Errorf("create token: kind %q is neither %s nor %s", t.Kind,
			identity.KindBridge, identity.KindUser)
	}
	for _, scope := range t.Scopes {
		if !slices.Contains(identity.Scopes, scope) {
			return model.Token{}, "", fmt.Errorf("create token: there is no scope %q, only %v", scope, identity.Scopes)
		}
	}
	for _, c := range t.Cameras {
		if !vms.ValidID(c) {
			return model.Token{}, "", fmt.Errorf("create token: %q cannot be the id of a camera", c)
		}
	}
	active, err := tx.Account(t.AccountID)
	if err != nil {
		return model.Token{}, "", fmt.Errorf("create token: account %q: %w", t.AccountID, err)
	}
	if t.UserID != "" {
		u, err := tx.User(t.UserID)
		if err == nil {
			err = tx.mayEnter(u, active)
		}
		if err != nil {
			return model.Token{}, "", fmt.Errorf("create token: user %q of account %q: %w", t.UserID, t.AccountID,
				identity.ErrNotFound)
		}
	}
	var text string
	t.ID, text, t.Hash = identity.NewBearer()
	t.Created, t.Revoked = tx.now, time.Time{}
	if err := tx.PutToken(t); err != nil {
		return model.Token{}, "", err
	}
	t.Hash = nil
	return t, text, nil
}

// Token finds a token of any purpose by its secret text. ErrUnknown for a wrong, revoked or expired
// one.
func (tx *Tx) Token(text string) (model.Token, error) {
	id, ok := identity.BearerID(text)
	if !ok {
		return model.Token{}, identity.ErrUnknown
	}
	t, err := get[model.Token](tx, bucketTokens, []byte(id))
	if errors.Is(err, identity.ErrNotFound) || err == nil && !identity.SameHash(identity.HashToken(text), t.Hash) {
		return model.Token{}, identity.ErrUnknown
	}
	return t, err
}

// TokenByID finds a token by its id, with its hash.
func (tx *Tx) TokenByID(id string) (model.Token, error) {
	return get[model.Token](tx, bucketTokens, []byte(id))
}

// PutToken stores a token over the one of its id.
func (tx *Tx) PutToken(t model.Token) error { return tokenKind.put(tx, t) }

// Tokens lists all tokens with their hashes, revoked ones too, oldest first.
func (tx *Tx) Tokens() ([]model.Token, error) {
	list, err := all[model.Token](tx, bucketTokens)
	slices.SortStableFunc(list, func(a, b model.Token) int { return a.Created.Compare(b.Created) })
	return list, err
}

// mayEnter is nil if a user may act in an account, its own or one that the rules let it switch to.
func (tx *Tx) mayEnter(u model.User, active model.Account) error {
	home, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return err
	}
	if !model.MaySwitch(model.CallerOf(u, home), model.PlaceOf(home, active)) {
		return identity.ErrUnknown
	}
	return nil
}

// Principal is a user acting in an account with what the records of this moment allow. ErrUnknown
// if either may not act. A pending user may: whoever has a token or session of one got it from the
// operator or by a link to the user's address.
func (tx *Tx) Principal(u model.User, active model.Account) (identity.Principal, error) {
	home, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return identity.Principal{}, err
	}
	if u.Disabled() || !home.Is(model.StatusActive) || !active.Is(model.StatusActive) ||
		!model.MaySwitch(model.CallerOf(u, home), model.PlaceOf(home, active)) ||
		!model.Within(u.AccessPeriod, u.Timezone, tx.now) {
		return identity.Principal{}, identity.ErrUnknown
	}
	shared, aliases, err := tx.sharedWith(u)
	if err != nil {
		return identity.Principal{}, err
	}
	return identity.Principal{Kind: identity.KindUser, AccountID: active.ID, User: wireUser(u),
		Grants:   model.GrantsOf(u, home, active, shared, aliases),
		Operator: bool(u.IsSuperuser), Ranges: home.Ranges()}, nil
}

// Authenticate finds whose bearer token it is and what its user may do at this moment. ErrUnknown
// for a wrong, revoked or expired one, and for one whose account or user may not act; other errors
// are the store's.
func (s *Store) Authenticate(text string) (identity.Principal, error) {
	p, writes, ok := s.machine(text)
	if ok {
		return p, nil
	}
	var t model.Token
	err := s.View(func(tx *Tx) (err error) { p, t, err = tx.Bearer(text); return err })
	if err != nil {
		return identity.Principal{}, err
	}
	s.rememberMachine(t, p, writes)
	return p, nil
}

// Bearer is Authenticate in a transaction, with the record of the token.
func (tx *Tx) Bearer(text string) (p identity.Principal, t model.Token, err error) {
	if t, err = tx.Token(text); err == nil {
		p, err = tx.opens(t)
	}
	if errors.Is(err, identity.ErrNotFound) {
		err = identity.ErrUnknown // the user or account is gone, and the token with it
	}
	return p, t, err
}

// opens is who the holder of a token is.
func (tx *Tx) opens(t model.Token) (p identity.Principal, err error) {
	if t.State(tx.now) != "active" || t.Purpose != "" {
		return p, identity.ErrUnknown
	}
	read := tx.Account
	if t.UserID == "" {
		read = tx.standing
	}
	active, err := read(t.AccountID)
	if err != nil {
		return p, err
	}
	if t.UserID != "" {
		u, err := tx.User(t.UserID)
		if err != nil {
			return p, err
		}
		if err := tx.stands(t, u); err != nil {
			return p, err
		}
		if p, err = tx.Principal(u, active); err != nil {
			return p, err
		}
	} else if !active.Is(model.StatusActive) && !active.Is(model.StatusInactive) {
		return p, identity.ErrUnknown // a bridge goes on while its account's people may not sign in
	}
	p.TokenID, p.Holder, p.Name, p.Kind, p.AccountID, p.Cameras, p.Scopes = t.ID, holderOf(t), t.Name, t.Kind,
		t.AccountID, t.Cameras, t.Scopes
	if active.IsVideoDisabled {
		if err := tx.withoutVideo(t, &p); err != nil {
			return p, err
		}
	}
	return p.Filled(), nil
}

// withoutVideo takes from a token what it may look at in an account that shut its reseller out of
// video: a client that the reseller registered, be it while switched into the account, is shut out
// as the reseller is. A machine of such a client goes on reporting, since it may be a bridge that
// the reseller signed in.
func (tx *Tx) withoutVideo(t model.Token, p *identity.Principal) error {
	if t.ClientID == "" {
		return nil
	}
	client, err := tx.TokenByID(t.ClientID)
	if err != nil && !errors.Is(err, identity.ErrNotFound) {
		return err
	}
	if err == nil && client.AccountID == t.AccountID && (client.Maker == "" || client.Maker == t.AccountID) {
		return nil
	}
	if p.Grants == nil && p.May(identity.ScopeReport) {
		p.Scopes = []string{identity.ScopeReport}
		return nil
	}
	shut := identity.Grants{All: true} // a machine that may look only sees all, and no pictures
	if p.Grants != nil {
		shut = *p.Grants
		shut.Preview, shut.Recorded, shut.Live, shut.Export = false, false, false, false
	}
	p.Grants = &shut
	return nil
}

// stands is nil if what a token was issued for is still so: the token that it was made from, the
// session that it came from, or else the password that its user had. Tokens that an operator made
// stay.
func (tx *Tx) stands(t model.Token, u model.User) error {
	if t.Parent != "" {
		parent, err := tx.TokenByID(t.Parent)
		if err != nil {
			return err
		}
		if parent.State(tx.now) != "active" || parent.Parent != "" {
			return identity.ErrUnknown
		}
		return tx.stands(parent, u)
	}
	if t.Session == nil {
		if t.Family != "" && u.Ousts(t.Created) {
			return identity.ErrUnknown
		}
		return nil
	}
	s, err := tx.Session(t.Session)
	if err != nil {
		return err
	}
	home, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return err
	}
	if !s.Live(tx.now, time.Duration(home.InactiveSessionTimeout)*time.Second) {
		return identity.ErrUnknown
	}
	return nil
}

func wireUser(u model.User) vms.User {
	out := vms.User{ID: u.ID, FirstName: u.FirstName, LastName: u.LastName, AccountID: u.OwnerAccountID,
		Email: u.Email, Language: u.Language, EmployeeID: u.EmployeeID()}
	if u.Timezone != "" {
		out.TimeZone = &vms.TimeZone{TimeZone: u.Timezone}
	}
	return out
}

// operator is whom the trail names for what is done by commands, without a session.
const operator = "operator"

// CreateToken is AddToken in a transaction of its own, by an operator.
func (s *Store) CreateToken(t model.Token) (out model.Token, text string, err error) {
	err = s.Update(func(tx *Tx) error {
		if out, text, err = tx.AddToken(t); err != nil {
			return err
		}
		return tx.Record(model.AuditEntry{AccountID: out.AccountID, ByName: operator, Action: model.AuditCreate,
			Kind: model.KindToken, Target: out.ID, Name: out.Name})
	})
	if err != nil {
		return model.Token{}, "", err
	}
	return out, text, nil
}

// RevokeToken ends a token at once, by an operator; its record stays. Revoking twice is no error.
// ErrNotFound if there is none.
func (s *Store) RevokeToken(id string) (model.Token, error) {
	var t model.Token
	err := s.Update(func(tx *Tx) error {
		var err error
		if t, err = tx.TokenByID(id); err != nil {
			return fmt.Errorf("revoke token %q: %w", id, err)
		}
		if !t.Revoked.IsZero() {
			return nil
		}
		t.Revoked = tx.now
		return errors.Join(tx.PutToken(t),
			tx.Record(model.AuditEntry{AccountID: t.AccountID, ByName: operator, Action: model.AuditDelete,
				Kind: model.KindToken, Target: t.ID, Name: t.Name}))
	})
	t.Hash = nil
	return t, err
}

// Tokens lists all tokens, revoked ones too, oldest first and without their hashes.
func (s *Store) Tokens() (list []model.Token, err error) {
	err = s.View(func(tx *Tx) error { list, err = tx.Tokens(); return err })
	for i := range list {
		list[i].Hash = nil
	}
	return list, err
}

func (tx *Tx) pruneTokens(age time.Duration) error {
	return tx.dropTokens(func(t model.Token) bool {
		return t.Family != "" && !t.Expires.IsZero() && tx.now.Sub(t.Expires) > age
	})
}

func (tx *Tx) dropTokens(over func(model.Token) bool) error {
	return sweep(tx, bucketTokens, over, func(t model.Token) error { return tokenKind.remove(tx, t) })
}
