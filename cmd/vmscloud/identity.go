package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/saml"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/identity/web"
)

// signInFlags say how people sign in.
type signInFlags struct {
	SignUp       bool     `name:"sign-up" help:"Let anyone open an account through create_account." env:"VMSCLOUD_SIGN_UP"`
	CookieDomain string   `help:"Parent domain of the hosts under which this is reached, for session cookies; left out, a cookie stays with the host that set it." env:"VMSCLOUD_COOKIE_DOMAIN" placeholder:"DOMAIN"`
	Cluster      string   `help:"What active_brand_subdomain says for accounts without a brand; it must lead back here." default:"c000" env:"VMSCLOUD_CLUSTER" placeholder:"LABEL"`
	Realm        string   `help:"Name of the root realm." default:"vms" env:"VMSCLOUD_REALM" placeholder:"NAME"`
	Origin       []string `help:"Other site whose pages may use a signed-in browser here, such as https://app.example.org; repeat for more." env:"VMSCLOUD_ORIGIN" placeholder:"URL"`
	Proxy        []string `help:"Address or range of a proxy whose X-Forwarded-For is believed; repeat for more." env:"VMSCLOUD_PROXY" placeholder:"ADDRESS"`
	NeedKey      bool     `name:"require-api-key" help:"Refuse calls to /g/ without an API key, which an account makes, or for the first one: vmscloud token create --kind key." env:"VMSCLOUD_REQUIRE_API_KEY"`
	SignInPage   string   `help:"Page to which /oauth2/authorize sends people who are not signed in; left out, it shows one of its own." env:"VMSCLOUD_SIGN_IN_PAGE" placeholder:"URL"`
	Letters      string   `help:"Settings of the mail server and the SMS gateway, in YAML; without them no messages and no codes are sent." env:"VMSCLOUD_LETTERS" type:"path" placeholder:"FILE"`

	base   string         // the address that identity providers send people to
	mailer *notify.Mailer // sends messages
}

// hashesAtOnce bounds the memory that sign-ins take: 19 MiB each.
const hashesAtOnce = 4

// identityHandlers are what serves /g/ and /oauth2/.
func (c runCmd) identityHandlers(ids *store.Store, reg *registry.Registry, log *slog.Logger) (people *web.Web,
	tokens http.Handler, err error) {
	proxies, err := prefixes("--proxy", c.Proxy)
	if err != nil {
		return nil, nil, err
	}
	sso, err := saml.New(saml.Options{Store: ids, BaseURL: c.base, Log: log})
	if err != nil {
		return nil, nil, err
	}
	hasher := identity.NewHasher(identity.Cost{}, hashesAtOnce)
	sessions := session.New(session.Options{Store: ids, Hasher: hasher, Post: c.mailer, Cluster: c.Cluster,
		Realm: c.Realm, Log: log})
	if err := sessions.Resume(); err != nil {
		return nil, nil, err
	}
	o := web.Options{Store: ids, Sessions: sessions, Devices: reg, SSO: sso, CookieDomain: c.CookieDomain,
		Secure: c.secure(), Origins: c.Origin,
		Proxies: proxies, CreateAccounts: c.SignUp, Log: log}
	if c.NeedKey {
		o.CheckKey = func(key string) (bool, error) { return oauth.CheckKey(ids, key) }
	}
	door, err := web.New(o)
	if err != nil {
		return nil, nil, err
	}
	issuer, err := oauth.New(oauth.Options{Store: ids, Sessions: sessions, Gate: door, BaseURL: c.PublicURL,
		Host: c.names(log), SignIn: c.SignInPage, Log: log})
	return door, issuer, err
}

// operators lets in superusers' tokens only: for what tells of all accounts.
type operators struct{ ids *store.Store }

func (o operators) Authenticate(token string) (identity.Principal, error) {
	p, err := o.ids.Authenticate(token)
	if err == nil && !p.Operator {
		err = identity.ErrUnknown
	}
	return p, err
}

// openMailer makes what sends messages. Without settings it sends none.
func (c runCmd) openMailer(ids *store.Store, log *slog.Logger) (*notify.Mailer, error) {
	o := notify.MailerOptions{Log: log, Done: func(l notify.Message) {
		if l.Seq == 0 {
			return
		}
		if err := ids.MessageDone(l.UserID, string(l.Kind), l.Seq); err != nil {
			log.Error("a message that was sent may be sent again at the next start", "kind", l.Kind, "error", err)
		}
	}}
	if c.Letters == "" {
		log.Warn("messages and codes are not sent: nobody can sign in with two factors, and links are to be had from "+
			"vmscloud user link",
			"hint", "write the settings of a mail server and name them with --letters")
		return notify.NewMailer(notify.Settings{}, o)
	}
	settings, err := notify.LoadSettings(c.Letters)
	if err != nil {
		return nil, err
	}
	c.lead(&settings.Pages, log)
	return notify.NewMailer(settings, o)
}

// lead sets the links of messages that lead nowhere yet to this service's own page. What stands
// behind # goes to no server and so into no log.
func (c runCmd) lead(p *notify.Pages, log *slog.Logger) {
	base := strings.TrimRight(c.PublicURL, "/")
	if base == "" {
		if p.Registration == "" || p.Password == "" {
			log.Warn("messages hold codes and no links", "hint", "say with --public-url how people reach this service")
		}
		return
	}
	p.Registration = cmp.Or(p.Registration, base+"/#/registration?id={account}&token={token}")
	p.Password = cmp.Or(p.Password, base+"/#/password?token={token}")
}

// begin tells the page which ways in there are beside signing in.
func (c runCmd) begin(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]bool{"letters": c.Letters != "", "signUp": c.SignUp}) // it may be gone
}

// secure says whether clients reach this by TLS, be it ended here or by a proxy.
func (c runCmd) secure() bool {
	u, err := url.Parse(c.PublicURL)
	return c.TLSCert != "" || err == nil && u.Scheme == "https"
}

func prefixes(flag string, list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return nil, fmt.Errorf("%s %q is neither an address nor a range such as 10.0.0.0/8", flag, s)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p)
	}
	return out, nil
}

// tidy removes expired records from the identity file, once an hour.
func tidy(ctx context.Context, ids *store.Store, log *slog.Logger) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := errors.Join(ids.Prune(), oauth.Prune(ids)); err != nil {
			log.Error("ended sessions could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
