package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vmsbridge/agent/health"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/identity/web"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// Names below bridge.data.
const (
	IdentityFile  = "identity.db"
	FirstUserFile = "first-user.token" // while nobody can sign in: a token to set the first user's password
)

// firstUser is the address of the account superuser that a bridge starts with. Without a password
// nobody signs in as it.
const firstUser = "admin@localhost"

// firstUserTime is how long the token is good; it is renewed at each start.
const firstUserTime = 7 * 24 * time.Hour

// hashesAtOnce bounds the memory that sign-ins take on a small box: 19 MiB each.
const hashesAtOnce = 1

// users is signing in at the bridge: its account's users, with the service's own interface, so that
// those on the LAN have a user and rights of their own when the service is out of reach. It is a
// convenience beside the bridge's work: what goes wrong here is told and costs nothing else.
type users struct {
	ids  *store.Store // nil: nobody can sign in
	shut error        // why its file could not be opened
	http http.Handler
}

// openUsers opens the users' file below bridge.data.
func openUsers(o *Options) *users {
	p := &users{http: http.NotFoundHandler()}
	ids, err := store.Open(filepath.Join(o.Config().Bridge.Data, IdentityFile),
		store.Options{Log: o.Log, OnDamage: o.Operations.People})
	p.shut = err
	if err == nil {
		if p.http, err = o.signIn(ids); err == nil {
			p.ids = ids
			return p
		}
		err = errors.Join(err, ids.Close())
		p.http = http.NotFoundHandler()
	}
	o.Log.Warn("nobody can sign in at the bridge; tokens of the configuration still work", "error", err)
	return p
}

// signIn makes the handler of /g/ and /oauth2/ over a store that holds the bridge's account.
func (o *Options) signIn(ids *store.Store) (http.Handler, error) {
	if err := o.settle(ids); err != nil {
		return nil, err
	}
	if err := tidy(ids, keepTrail); err != nil {
		return nil, err
	}
	hasher := identity.NewHasher(identity.Cost{}, hashesAtOnce)
	// A bridge sends no codes. A user who needs one is turned away here rather than let in by the
	// password alone.
	sessions := session.New(session.Options{Store: ids, Hasher: hasher, Log: o.Log})
	door, err := web.New(web.Options{Store: ids, Sessions: sessions, Devices: devices{o},
		Secure: o.Config().API.TLS.Cert != "", Log: o.Log})
	if err != nil {
		return nil, err
	}
	issuer, err := oauth.New(oauth.Options{Store: ids, Sessions: sessions, Gate: door,
		BaseURL: o.Config().API.PublicURL, Host: ownName,
		Log: o.Log})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/g", door)
	mux.Handle("/g/", door)
	mux.Handle("/oauth2", issuer)
	mux.Handle("/oauth2/", issuer)
	mux.Handle(oauth.PathWellKnown, issuer)
	return mux, nil
}

// settle sees to it that the account of the configuration is there, with someone who can sign in or
// a token for the first one to set a password. The token is left in a file that only the bridge's
// own user can read, never in a log.
func (o *Options) settle(ids *store.Store) error {
	id, file := o.Config().Bridge.Account, filepath.Join(o.Config().Bridge.Data, FirstUserFile)
	token := ""
	err := ids.Update(func(tx *store.Tx) error {
		acc := model.NewAccount()
		acc.ID, acc.Name, acc.Status = id, o.Config().Bridge.Name, model.Texts{model.StatusActive}
		if _, err := tx.AddAccount(acc); err != nil && !errors.Is(err, identity.ErrExists) {
			return err
		}
		users, err := tx.UsersOf(id)
		if err != nil {
			return err
		}
		for _, u := range users {
			if !u.IsPending {
				return nil
			}
		}
		u, err := tx.UserByEmail(firstUser)
		if errors.Is(err, identity.ErrNotFound) {
			u = model.NewUser()
			u.OwnerAccountID, u.Email, u.FirstName, u.IsAccountSuperuser = id, firstUser, "Admin", true
			if u, err = tx.AddUser(u.Settled()); err == nil {
				err = tx.Record(model.AuditEntry{AccountID: id, ByName: "vmsbridge", Action: model.AuditCreate,
					Kind: model.KindUser, Target: u.ID, Name: u.Email})
			}
		}
		if err != nil {
			return err
		}
		if u.OwnerAccountID != id {
			return fmt.Errorf("the account in the configuration was changed; remove %s and %[1]s.copy to begin anew",
				IdentityFile)
		}
		token = identity.NewToken(48)
		return errors.Join(tx.DropTickets(u.ID, model.PurposePassword),
			tx.PutTicket(model.Ticket{Hash: identity.HashToken(token), Purpose: model.PurposePassword,
				AccountID: id, UserID: u.ID, Created: tx.Now(), Expires: tx.Now().Add(firstUserTime)}))
	})
	if err != nil {
		return fmt.Errorf("prepare sign-in: %w", err)
	}
	if token == "" {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove the first user's token: %w", err)
		}
		return nil
	}
	_ = os.Remove(file) // what stands there may be a link, or a pipe
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		return fmt.Errorf("leave the first user's token: %w", err)
	}
	o.Log.Info("nobody can sign in at the bridge yet", "user", firstUser, "token_file", file,
		"hint", "open the bridge's page, choose \"First time here?\" and give the code of that file; or: curl "+
			"BRIDGE/g/aaa/reset_password -d token=$(cat FILE) --data-urlencode password=...")
	return nil
}

// A bridge runs for months: what is over is removed, and of the trail of changes only the newest
// entries are kept, so that neither people nor whoever tries passwords on the LAN fills its disk.
const keepTrail = 20_000

// tidy removes expired records from the users' file.
func (p *users) tidy(log *slog.Logger) {
	if p.ids == nil {
		return
	}
	if err := tidy(p.ids, keepTrail); err != nil {
		log.Warn("ended sessions could not be removed", "error", err)
	}
}

// tidy removes expired records, and all entries of the trail but the newest.
func tidy(ids *store.Store, keep uint64) error {
	return errors.Join(ids.Prune(), oauth.Prune(ids), ids.Update(func(tx *store.Tx) error {
		newest, err := tx.AuditTrail("", 0, 1)
		if err != nil || len(newest) == 0 || newest[0].Seq <= keep {
			return err
		}
		return tx.PruneAuditTrail(newest[0].Seq - keep)
	}))
}

// report is the state of the users' file.
func (p *users) report() (u health.Users) {
	switch {
	case p == nil:
	case p.shut != nil:
		u.Shut = p.shut.Error()
	case p.ids != nil:
		if list := p.ids.File().Damage(); len(list) > 0 {
			u.Damaged = list[len(list)-1].String()
		}
	}
	return u
}

// directory is what the interface asks for users, nil if nobody can sign in.
func (p *users) directory() server.Directory {
	if p.ids == nil {
		return nil
	}
	return p.ids
}

// nobodyYet says whether no user of an account has a password yet.
func (p *users) nobodyYet(account string) bool {
	if p.ids == nil {
		return false
	}
	list, err := p.ids.Users(account)
	return err == nil && !slices.ContainsFunc(list, func(u model.User) bool { return !bool(u.IsPending) })
}

// Authenticate lets in users' bearer tokens.
func (p *users) Authenticate(token string) (identity.Principal, error) {
	if p.ids == nil {
		return identity.Principal{}, identity.ErrUnknown
	}
	return p.ids.Authenticate(token)
}

// Close lets go of the file.
func (p *users) Close() error {
	if p.ids == nil {
		return nil
	}
	return p.ids.Close()
}

// authenticators accepts a caller that one of them accepts.
type authenticators []interface {
	Authenticate(token string) (identity.Principal, error)
}

// Authenticate asks each in turn.
func (d authenticators) Authenticate(token string) (identity.Principal, error) {
	for _, one := range d {
		if p, err := one.Authenticate(token); !errors.Is(err, identity.ErrUnknown) {
			return p, err
		}
	}
	return identity.Principal{}, identity.ErrUnknown
}

// devices is the bridge and its cameras as /g/device asks for them.
type devices struct{ o *Options }

// Devices lists them; other accounts have none here.
func (d devices) Devices(_ context.Context, account string) ([]web.Device, error) {
	cfg := d.o.Config().Bridge
	if account != cfg.Account {
		return nil, nil
	}
	address := ""
	if u, err := url.Parse(d.o.Config().API.PublicURL); err == nil {
		address = u.Hostname()
	}
	out := []web.Device{{ID: cfg.ID, AccountID: account, Name: cfg.Name, Kind: vms.ActorBridge,
		Status: vms.StatusOnline, Address: address, Created: d.o.Started}}
	for _, c := range d.o.Cameras() {
		if d.o.said != nil {
			d.o.said.of(c.ID).Put(&c)
		}
		out = append(out, web.Device{ID: c.ID, AccountID: account, Name: c.Name, Kind: vms.ActorCamera, Bridge: cfg.ID,
			Status: c.Status.ConnectionStatus, Created: d.o.Started})
	}
	return out, nil
}

// Device is one of them.
func (d devices) Device(account, id string) (web.Device, bool) {
	list, _ := d.Devices(context.Background(), account)
	if i := slices.IndexFunc(list, func(one web.Device) bool { return one.ID == id }); i >= 0 {
		return list[i], true
	}
	return web.Device{}, false
}
