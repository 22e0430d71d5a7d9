package session

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// How long tickets are good. Those of sign-in are the public service's, 30 seconds and, to have
// time for a code, 15 minutes.
const (
	loginTime    = 30 * time.Second
	factorTime   = 15 * time.Minute
	activateTime = 7 * 24 * time.Hour
	inviteTime   = 7 * 24 * time.Hour
	resetTime    = 2 * time.Hour
)

// Masked is the answer of authenticate when a code is needed.
type Masked struct {
	SMS   string `json:"sms"`
	Email string `json:"email"`
}

// Options of New. Store and Hasher are needed.
type Options struct {
	Store  *store.Store
	Hasher *identity.Hasher
	Post   notify.Sender // nil: no messages and codes; links are to be had from the operator
	// Cluster begins every session key and is the subdomain of accounts without a brand; "c000" if
	// empty.
	Cluster string
	// Realm is the one root realm, that of all accounts; "vms" if empty.
	Realm string
	Log   *slog.Logger
}

// Service signs people in. Safe for concurrent use; starts no goroutine.
type Service struct {
	store   *store.Store
	hasher  *identity.Hasher
	post    notify.Sender
	cluster string
	realm   string
	log     *slog.Logger
}

// New makes a Service.
func New(o Options) *Service {
	d := &Service{o.Store, o.Hasher, o.Post, o.Cluster, o.Realm, o.Log}
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
func (d *Service) Cluster() string { return d.cluster }

// Hash hashes a password that is to be set. Do it outside of transactions: it takes long.
func (d *Service) Hash(ctx context.Context, password string) (string, error) {
	return d.hasher.Hash(ctx, password)
}

// Confirm says whether a password is the user's. It does not count wrong ones; limit how often it
// is asked.
func (d *Service) Confirm(ctx context.Context, u model.User, password string) (bool, error) {
	return d.hasher.Check(ctx, u.Inner.PasswordHash, password)
}

// allowed says whether an address may sign in to an account, by its address ranges.
func allowed(a model.Account, from netip.Addr) bool { return identity.Within(a.Ranges(), from) }

// findUser finds a user by address with the account that it belongs to. found is false if there is
// none, or if its account is of another realm than the one given; "" is any.
func (d *Service) findUser(tx *store.Tx, email, realm string) (u model.User, a model.Account, found bool, err error) {
	if u, err = tx.UserByEmail(email); err == nil {
		a, err = tx.Account(u.OwnerAccountID)
	}
	if errors.Is(err, identity.ErrNotFound) || err == nil && realm != "" && realm != d.realmOf(a) {
		return model.User{}, model.Account{}, false, nil
	}
	return u, a, err == nil, err
}

func (d *Service) realmOf(a model.Account) string {
	if a.Inner.Realm == "" {
		return d.realm
	}
	return a.Inner.Realm
}

// stored is an answer that is no success and yet comes of a change that is to be stored.
type stored struct{ error }

// keep makes a stored answer of an error that is an answer. Other errors undo the change.
func keep(err error) error {
	var e *api.Error
	if errors.As(err, &e) {
		return stored{e}
	}
	return err
}

// update runs a change, and sends what it adds to send once that is stored.
func (d *Service) update(f func(tx *store.Tx, send *[]notify.Message) error) error {
	var send []notify.Message
	var answer error
	err := d.store.Update(func(tx *store.Tx) error {
		send, answer = nil, nil
		err := f(tx, &send)
		var s stored
		if errors.As(err, &s) {
			answer = s.error
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	d.Send(send...)
	return answer
}

// ticket makes a ticket for a user, or for nobody if u is empty, and returns its token.
func ticket(tx *store.Tx, token string, p model.Purpose, u model.User, good time.Duration,
	set ...func(*model.Ticket)) error {
	t := model.Ticket{Hash: identity.HashToken(token), Purpose: p, AccountID: u.OwnerAccountID, UserID: u.ID,
		Created: tx.Now(), Expires: tx.Now().Add(good)}
	for _, f := range set {
		f(&t)
	}
	return tx.PutTicket(t)
}

// mine is an entry of the trail about a user, by that user.
func mine(u model.User, action model.AuditAction, from netip.Addr) model.AuditEntry {
	return model.AuditEntry{AccountID: u.OwnerAccountID, By: u.ID, ByName: u.Email, From: model.Address(from),
		Action: action, Kind: model.KindUser, Target: u.ID, Name: u.Email}
}
