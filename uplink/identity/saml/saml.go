package saml

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// Options of New. Store and BaseURL are needed.
type Options struct {
	Store *store.Store
	// BaseURL is the address under which people reach this service, such as
	// https://login.example.org. It is what assertions must be made out to, so it is never taken
	// from a request: whoever sends that chooses its Host.
	BaseURL string
	Log     *slog.Logger // nil: nothing is logged
}

// ServiceProvider lets people in whom an identity provider vouches for. Safe for concurrent use;
// starts no goroutine.
type ServiceProvider struct {
	store    *store.Store
	consumer string // Destination and Recipient
	audience string
	log      *slog.Logger
}

// endpoint is where messages are posted, below the base address.
const endpoint = "/g/sso"

// New makes a service provider.
func New(o Options) (*ServiceProvider, error) {
	u, err := url.Parse(o.BaseURL)
	if o.Store == nil || err != nil || u.Host == "" {
		return nil, errors.New("make saml: Store and BaseURL are needed, such as https://login.example.org")
	}
	base := strings.TrimRight(o.BaseURL, "/")
	d := &ServiceProvider{store: o.Store, consumer: base + endpoint, audience: base, log: o.Log}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	return d, nil
}

// Consumer is the address that a provider is to post to, and Audience the name that it is to know
// this service by.
func (d *ServiceProvider) Consumer() string { return d.consumer }

// Audience is the entity id of this service.
func (d *ServiceProvider) Audience() string { return d.audience }

var (
	errUntrusted = api.NewError(api.CodeInvalid, "InvalidAssertion",
		"the identity provider's message is not accepted; the log of this service says why")
	errPath   = errors.New("read the user's address")
	errNoUser = api.NewError(api.CodeNotFound, "UserNotFound",
		"the account of the identity provider has no such user")
)

// witness is an account whose certificate signed a message.
type witness struct {
	account model.Account
	cert    *x509.Certificate
	signed  *etree.Element // the assertion, as it was verified
}

// User is the id of the user whom a message names: the base64 of a samlp:Response. Errors are
// *api.Error: 400 for what cannot be read or is encrypted, 401 for what is not to be trusted, 404
// if the provider's account has no such user. A message is good once. strong says that by the
// message the user signed in at the provider with more than one factor.
func (d *ServiceProvider) User(_ context.Context, text string) (id string, strong bool, err error) {
	m, err := read(text)
	if err != nil {
		return "", false, err
	}
	if err := m.form(); err != nil {
		return "", false, d.refuse(err, "")
	}
	list, err := d.witnesses(m)
	if err != nil {
		return "", false, err
	}
	if len(list) == 0 {
		return "", false, d.refuse(errors.New("no account's certificate signed it"), "")
	}
	a, err := d.check(m, list[0].signed)
	if err != nil {
		return "", false, d.refuse(err, list[0].account.ID)
	}
	var user string
	var answer error
	err = d.store.Update(func(tx *store.Tx) error {
		user, answer = "", nil
		for _, w := range list {
			id, err := d.admit(tx, w, a)
			var e *api.Error
			switch {
			case err == nil:
				user = id
			case !errors.As(err, &e):
				return err
			case answer == nil || e.Code == api.CodeNotFound:
				answer = err
			}
		}
		return nil
	})
	if err != nil {
		return "", false, err
	}
	if user != "" {
		return user, multiFactor(a), nil
	}
	return "", false, answer
}

// admit is the user of one witness. An account that does not admit a message does not keep another
// from it that does: a certificate is public, so that anyone can register that of someone else.
func (d *ServiceProvider) admit(tx *store.Tx, w witness, a saml.Assertion) (string, error) {
	if err := d.once(tx, w, a); errors.Is(err, errReplay) || errors.Is(err, errIssuer) {
		return "", d.refuse(err, w.account.ID)
	} else if err != nil {
		return "", err
	}
	switch u, err := d.find(tx, w); {
	case err == nil:
		return u.ID, nil
	case errors.Is(err, identity.ErrNotFound):
		return "", errNoUser
	case errors.Is(err, errPath):
		d.log.Warn("the address of a user could not be read from a sign-in by SAML", "account", w.account.ID, "error",
			err,
			"hint", "look at brand_saml_nameid_path of the account")
		return "", errUntrusted
	default:
		return "", err
	}
}

func (d *ServiceProvider) refuse(cause error, account string) error {
	d.log.Info("a sign-in by SAML was refused", "account", account, "error", cause)
	return errUntrusted
}

// witnesses finds the accounts whose certificate signed a message. It looks at all that have one,
// since nothing that is in a message may be believed before it is verified.
func (d *ServiceProvider) witnesses(m *message) ([]witness, error) {
	var all []model.Account
	now := d.store.Now()
	err := d.store.View(func(tx *store.Tx) (err error) { all, err = tx.Accounts(); return err })
	if err != nil {
		return nil, err
	}
	var out []witness
	for _, a := range all {
		if a.BrandCertificate == "" || !a.Is(model.StatusActive) {
			continue
		}
		cert, err := model.ParseCertificate(a.BrandCertificate)
		if err != nil {
			d.log.Warn("the SAML certificate of an account cannot be read", "account", a.ID, "error", err)
			continue
		}
		signed, err := m.verify(cert, now)
		if err != nil {
			d.log.Debug("not signed by this account", "account", a.ID, "error", err)
			continue
		}
		out = append(out, witness{a, cert, signed})
	}
	return out, nil
}

// find is the user of the witness's own account whose address stands at the account's path. The
// error wraps identity.ErrNotFound if there is none.
func (d *ServiceProvider) find(tx *store.Tx, w witness) (model.User, error) {
	p, err := ParsePath(w.account.BrandNameIDPath)
	var email string
	if err == nil {
		email, err = p.Text(w.signed)
	}
	if err != nil {
		return model.User{}, fmt.Errorf("%w: %w", errPath, err)
	}
	u, err := tx.UserByEmail(email)
	if err == nil && u.OwnerAccountID != w.account.ID {
		return model.User{}, fmt.Errorf("find user of the account: %w", identity.ErrNotFound)
	}
	return u, err
}

// The bounds on time. A provider's clock may be skew off; a message is posted within fresh of being
// made.
const (
	skew  = 2 * time.Minute
	fresh = 5 * time.Minute
)
