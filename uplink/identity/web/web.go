package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/route"
)

// Device is a bridge or camera as /g/device and the statistics need it.
type Device struct {
	ID, AccountID, Name string
	Kind                string // "camera" or "bridge"
	Bridge              string // of a camera, "" if it has none
	Status              string // one of the vms.Status constants
	Address             string // IP address of a bridge, "" if unknown
	Created             time.Time
}

// Devices knows the bridges and cameras of accounts. Its answers come from memory: they are asked
// for inside transactions.
type Devices interface {
	// Devices lists an account's bridges and cameras, without those that are gone. It ends early
	// when ctx is done.
	Devices(ctx context.Context, account string) ([]Device, error)
	// Device is one of them, ok false if there is none of that id.
	Device(account, id string) (d Device, ok bool)
}

// SSO is behind POST /g/sso, identity/saml.
type SSO interface {
	// User is the id of the user whom an identity provider's message names, and whether the
	// provider asked for more than one factor: *api.Error 400, 401 or 404 if none.
	User(ctx context.Context, message string) (id string, strong bool, err error)
}

// Options of New. Store, Desk and Devices are needed.
type Options struct {
	Store    *store.Store
	Sessions *session.Service
	Devices  Devices
	SSO      SSO // nil: the endpoint answers 503

	// CookieDomain is the parent domain of the login host and the branded hosts. "" keeps cookies
	// to the host that set them, which is right for an address, for localhost and wherever there is
	// one host only.
	CookieDomain string
	// Secure marks cookies as Secure even if a request came in plain, as behind a proxy that ends
	// TLS.
	Secure bool
	// Origins are other origins, such as https://app.example.org, whose pages may use a signed-in
	// browser here.
	Origins []string
	// Proxies are addresses whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// CheckKey says whether an API key is good; nil lets requests in with any key or none.
	CheckKey func(key string) (bool, error)
	// CreateAccounts lets anyone open an account by create_account.
	CreateAccounts bool

	Limits Limits // the zero value is DefaultLimits
	Log    *slog.Logger
}

// Web is the handler. Safe for concurrent use; starts no goroutine.
type Web struct {
	o        Options
	store    *store.Store
	sessions *session.Service
	router   *route.Router
	cross    *http.CrossOriginProtection
	byOrigin *limiter
	byUser   *limiter
	byDevice *limiter
	free     *limiter
	work     *limiter
	log      *slog.Logger
}

// New makes the handler for /g/.
func New(o Options) (*Web, error) {
	if o.Store == nil || o.Sessions == nil || o.Devices == nil {
		return nil, errors.New("make identity handlers: Store, Desk and Devices are needed")
	}
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits
	}
	w := &Web{o: o, store: o.Store, sessions: o.Sessions, cross: http.NewCrossOriginProtection(), log: o.Log}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	for _, origin := range o.Origins {
		if err := w.cross.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	for into, l := range map[**limiter]Limit{&w.byOrigin: o.Limits.PerAddress, &w.byUser: o.Limits.PerUser,
		&w.byDevice: o.Limits.PerDevice, &w.free: o.Limits.Free, &w.work: o.Limits.Work} {
		*into = newLimiter(l, o.Store.Now)
	}
	w.routes()
	return w, nil
}
