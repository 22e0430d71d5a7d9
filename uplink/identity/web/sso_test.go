package web

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	sp "vmsbridge/uplink/identity/saml"
)

const ssoBase = "https://login.example.org"

// provider is an identity provider of the library, serving at an address of its own, at which one
// person is signed in.
type provider struct {
	*saml.IdentityProvider
	email   string
	context string // how the person signed in at the provider; "" is by password
}

// MakeAssertion says how the person signed in.
func (p *provider) MakeAssertion(r *saml.IdpAuthnRequest, s *saml.Session) error {
	err := saml.DefaultAssertionMaker{}.MakeAssertion(r, s)
	if err == nil && p.context != "" {
		r.Assertion.AuthnStatements[0].AuthnContext.AuthnContextClassRef.Value = p.context
	}
	return err
}

func (p *provider) GetServiceProvider(*http.Request, string) (*saml.EntityDescriptor, error) {
	sp := saml.ServiceProvider{EntityID: ssoBase,
		AcsURL: url.URL{Scheme: "https", Host: "login.example.org", Path: "/g/sso"}}
	return sp.Metadata(), nil
}

func (p *provider) GetSession(http.ResponseWriter, *http.Request, *saml.IdpAuthnRequest) *saml.Session {
	return &saml.Session{ID: "1", CreateTime: time.Now(), NameID: p.email, UserEmail: p.email}
}

func newProvider(t *testing.T, email string) (p *provider, certificate string) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	tpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	p = &provider{email: email}
	p.IdentityProvider = &saml.IdentityProvider{Key: key, Certificate: cert, Logger: log.New(io.Discard, "", 0),
		MetadataURL:     url.URL{Scheme: "https", Host: "idp.example.org", Path: "/metadata"},
		SignatureMethod: dsig.RSASHA256SignatureMethod, ServiceProviderProvider: p, SessionProvider: p,
		AssertionMaker: p}
	return p, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

var samlField = regexp.MustCompile(`name="SAMLResponse" value="([^"]+)"`)

// message is what the page of the provider posts, fetched from the provider by HTTP.
func (p *provider) message(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		p.ServeIDPInitiated(w, r, ssoBase, "")
	}))
	defer server.Close()
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	found := samlField.FindSubmatch(page)
	require.NotNil(t, found, "%s", page)
	return strings.ReplaceAll(string(found[1]), "&#43;", "+")
}

// withSSO lets people in whom a provider of account c vouches for.
func withSSO(t *testing.T, b *fixture) *provider {
	b.Advance(time.Since(b.Now())) // the library's provider goes by the real clock
	var err error
	b.web.o.SSO, err = sp.New(sp.Options{Store: b.Store, BaseURL: ssoBase,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, err)
	p, cert := newProvider(t, "ru@c")
	asu := b.signIn("asu@c")
	b.call("POST", "/g/account", asu, args{"id": "c", "brand_saml_publickey_cert": cert,
		"brand_saml_nameid_path": "//Subject/NameID"}).want(200)
	return p
}

func TestSSO(t *testing.T) {
	b := newFixture(t)
	p := withSSO(t, b)
	// From the provider's page, by a browser.
	browser := func(r *http.Request) {
		r.Header.Set("Origin", "https://idp.example.org")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	message := p.message(t)
	r := b.callIn(inForm, "POST", "/g/sso", "", args{"SAMLResponse": message, "RelayState": ""}, browser).want(200)
	require.Equal(t, b.ids["ru@c"], r.field("user_id"))
	key := r.cookie("auth_key").Value
	require.Equal(t, key, r.field("auth_key"))
	b.call("GET", "/g/aaa/isauth", key, nil).want(200)
	require.Equal(t, "ru@c", b.call("GET", "/g/user", key, nil).want(200).field("email"))
	b.callIn(inForm, "POST", "/g/sso", "", args{"SAMLResponse": message}).want(401, "a second time")

	// In the header, and in each encoding.
	b.call("POST", "/g/sso", "", nil, func(r *http.Request) { r.Header.Set("SAMLResponse", p.message(t)) }).want(200)
	for _, encoding := range bodyEncodings {
		b.callIn(encoding, "POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}).want(200, encoding)
	}
	b.call("POST", "/g/sso", "", nil).want(400)
	b.call("POST", "/g/sso", "", args{"SAMLResponse": "x"}).want(400)

	// The account of the provider is c: it signs nobody of another account in, and nobody who may
	// not sign in.
	for _, email := range []string{"ru@o", "asu@m", "root@m", "nobody@c"} {
		p.email = email
		r := b.call("POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}).want(404, email)
		require.Empty(t, r.cookies)
	}
	p.email = "ru@c"
	b.EditUser("ru@c", func(u *model.User) { u.IsActive = false })
	b.call("POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}).want(404)
	b.EditUser("ru@c", func(u *model.User) { u.IsActive = true })
	b.SetStatus("c", model.StatusSuspended)
	b.call("POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}).want(401)
}

// Who needs a second factor here gives it after the provider's message too, unless the provider
// asked for two.
func TestSSOAndTheSecondFactor(t *testing.T) {
	b := newFixture(t, withFactor(nil))
	p := withSSO(t, b)
	post := func(more ...func(*http.Request)) reply {
		return b.call("POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}, more...).want(200)
	}
	const opened, asked = "auth_key", "two_factor_authentication_code"
	forced := func(v bool) {
		b.EditAccount("c", func(a *model.Account) { a.IsFactorForced = model.Flag(v) })
	}
	require.Contains(t, string(post().body), opened)
	b.EditUser("ru@c", func(u *model.User) { u.IsFactorEnabled = true })
	require.Contains(t, string(post().body), asked, "the user's own choice")
	b.EditUser("ru@c", func(u *model.User) { u.IsFactorEnabled = false })
	forced(true)
	r := post()
	require.Empty(t, r.cookies)
	require.NotContains(t, string(r.body), opened)
	require.Contains(t, string(r.body), `"email":"r***@c"`)
	token := r.field("token")
	b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(401, "no code")
	b.call("POST", aaaCode, "", args{"token": token, typeOfCode: "email"}).want(200)
	r = b.call("POST", "/g/aaa/authorize", "", args{"token": token, codeArg: b.message("ru@c").Code}).want(200)
	b.call("GET", "/g/aaa/isauth", r.cookie("auth_key").Value, nil).want(200)
	device := r.cookie("tfa_key")
	require.Contains(t, string(post(func(r *http.Request) { r.AddCookie(device) }).body), opened, "a trusted device")

	for context, want := range map[string]string{
		"urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport": asked,
		"urn:oasis:names:tc:SAML:2.0:ac:classes:MobileOneFactorContract":    asked,
		"https://refeds.org/profile/sfa":                                    asked,
		"urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract":    opened,
		"https://refeds.org/profile/mfa":                                    opened} {
		p.context = context
		require.Contains(t, string(post().body), want, context)
	}
	// What forbids a sign-in by password forbids this one.
	for name, forbid := range map[string]func(*model.Account, *model.User){
		"addresses": func(a *model.Account, _ *model.User) {
			a.AccessRestriction, a.AllowableRange = model.Texts{"enable_ip_restrictions"}, model.Texts{"203.0.113.0/24"}
		},
		"hours":  func(_ *model.Account, u *model.User) { u.AccessPeriod = model.Texts{"0-0000-0000"} },
		"locked": func(_ *model.Account, u *model.User) { u.Lock(b.Now(), "") },
	} {
		a, u := b.Account("c"), b.User("ru@c")
		b.EditAccount("c", func(x *model.Account) { forbid(x, &model.User{}) })
		b.EditUser("ru@c", func(x *model.User) { forbid(&model.Account{}, x) })
		r := b.call("POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}).want(404, name)
		require.Empty(t, r.cookies)
		b.EditAccount("c", func(x *model.Account) { *x = a })
		b.EditUser("ru@c", func(x *model.User) { *x = u })
	}
}

// An account's administrators choose its provider: it is no way to become more than they are.
func TestAProviderMakesNobodyMore(t *testing.T) {
	b := newFixture(t)
	p := withSSO(t, b)
	b.user("settings@c", func(u *model.User) { u.IsEditAccount = true })
	b.user("staff@c", func(u *model.User) { u.IsStaff = true })
	b.user("super@c", func(u *model.User) { u.IsSuperuser = true })
	for _, email := range []string{"staff@c", "super@c"} {
		p.email = email
		require.Empty(t, b.call("POST", "/g/sso", "", args{"SAMLResponse": p.message(t)}).want(404, email).cookies)
	}
	_, mine := newProvider(t, "asu@c")
	key := b.signIn("settings@c")
	b.call("POST", "/g/account", key, args{"id": "c", "brand_saml_publickey_cert": mine}).want(403)
	b.call("POST", "/g/account", key, args{"id": "c", "brand_saml_nameid_path": "//AttributeValue"}).want(403)
	b.call("POST", "/g/account", key, args{"id": "c", "brand_name": "x"}).want(200)
}
