package session

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/audit"
	"vmsbridge/uplink/identity/post"
	"vmsbridge/uplink/identity/record"
	"vmsbridge/uplink/identity/secret"
	"vmsbridge/uplink/identity/store"
)

// How long tickets are good. Those of sign-in are the public service's, 30 seconds and, to have time for a code,
// 15 minutes.
const (
	loginTime    = 30 * time.Second
	factorTime   = 15 * time.Minute
	activateTime = 7 * 24 * time.Hour
	inviteTime   = 7 * 24 * time.Hour
	resetTime    = 2 * time.Hour
)

// Factor is the second factor, identity/factor. Its methods work within a transaction of the desk's.
type Factor interface {
	// Needed says whether the user must give a code: by their own choice or by the account's.
	Needed(u record.User, home record.Account) bool
	// Masked are the ways to get the code, made unreadable.
	Masked(u record.User) Masked
	// Trusted says whether the cookie tfa_key of a device is one that the user signed in with before.
	Trusted(u record.User, device string) bool
	// Check compares the code with the ticket's. It changes t and u, which the desk stores also when the error is a
	// *status.Error: 401 for a missing or expired code, 406 for a wrong one, 429 when the user is locked now.
	Check(tx *store.Tx, t *record.Ticket, u *record.User, code string) error
	// Trust notes the device, as name, with the user and returns the value for the cookie: device, or a new one.
	Trust(tx *store.Tx, u *record.User, device, name string) (string, error)
}

// Masked is the answer of authenticate when a code is needed.
type Masked struct {
	SMS   string `json:"sms"`
	Email string `json:"email"`
}

// Poster sends letters without waiting, identity/post.
type Poster interface {
	Send(post.Letter) error
	Can(post.Channel) bool
}

// Options of New. Store and Hasher are needed.
type Options struct {
	Store  *store.Store
	Hasher *secret.Hasher
	Factor Factor // nil: nobody has a second factor
	Post   Poster // nil: no letters; links are to be had from the operator
	// Cluster begins every session key and is the subdomain of accounts without a brand; "c000" if empty.
	Cluster string
	// Realm is the one root realm, that of all accounts; "vms" if empty.
	Realm string
	Log   *slog.Logger
}

// Desk signs people in. Safe for concurrent use; starts no goroutine.
type Desk struct {
	store   *store.Store
	hasher  *secret.Hasher
	factor  Factor
	post    Poster
	cluster string
	realm   string
	log     *slog.Logger
}

// New makes a desk.
func New(o Options) *Desk {
	d := &Desk{o.Store, o.Hasher, o.Factor, o.Post, o.Cluster, o.Realm, o.Log}
	if d.cluster == "" {
		d.cluster = "c000"
	}
	if d.realm == "" {
		d.realm = "vms"
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	return d
}

// Cluster is the subdomain of accounts without a brand.
func (d *Desk) Cluster() string { return d.cluster }

// Hash hashes a password that is to be set. Do it outside of transactions: it takes long.
func (d *Desk) Hash(ctx context.Context, password string) (string, error) {
	return d.hasher.Hash(ctx, password)
}

// Confirm says whether a password is the user's. It does not count wrong ones; limit how often it is asked.
func (d *Desk) Confirm(ctx context.Context, u record.User, password string) (bool, error) {
	return d.hasher.Check(ctx, u.Inner.PasswordHash, password)
}

// allowed says whether an address may sign in to an account, by its address ranges.
func allowed(a record.Account, from netip.Addr) bool { return identity.Within(a.Ranges(), from) }

// home finds a user by address with the account that it belongs to. found is false if there is none, or if its account
// is of another realm than the one given; "" is any.
func (d *Desk) home(tx *store.Tx, email, realm string) (u record.User, a record.Account, found bool, err error) {
	if u, err = tx.UserByEmail(email); err == nil {
		a, err = tx.Account(u.OwnerAccountID)
	}
	if errors.Is(err, identity.ErrNotFound) || err == nil && realm != "" && realm != d.realmOf(a) {
		return record.User{}, record.Account{}, false, nil
	}
	return u, a, err == nil, err
}

func (d *Desk) realmOf(a record.Account) string {
	if a.Inner.Realm == "" {
		return d.realm
	}
	return a.Inner.Realm
}

// ticket makes a ticket for a user, or for nobody if u is empty, and returns its token.
func ticket(tx *store.Tx, token string, p record.Purpose, u record.User, good time.Duration, set ...func(*record.Ticket)) error {
	t := record.Ticket{Hash: secret.Hash(token), Purpose: p, AccountID: u.OwnerAccountID, UserID: u.ID, Created: tx.Now(), Expires: tx.Now().Add(good)}
	for _, f := range set {
		f(&t)
	}
	return tx.PutTicket(t)
}

// mine is an entry of the trail about a user, by that user.
func mine(u record.User, action audit.Action, from netip.Addr) audit.Entry {
	return audit.Entry{AccountID: u.OwnerAccountID, By: u.ID, ByName: u.Email, From: address(from), Action: action, Kind: audit.KindUser, Target: u.ID, Name: u.Email}
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().String()
}
