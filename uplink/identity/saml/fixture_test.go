package saml

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

const base = "https://login.example.org"

// provider is a real identity provider: the one of the library.
type provider struct{ *saml.IdentityProvider }

// keys are made once, and short ones: making them is slow.
var keys = sync.OnceValue(func() (out [2]*rsa.PrivateKey) {
	for i := range out {
		out[i], _ = rsa.GenerateKey(rand.Reader, 1024)
	}
	return out
})

func newProvider(t testing.TB, which int, name string) provider {
	key := keys()[which]
	tpl := &x509.Certificate{SerialNumber: big.NewInt(int64(which + 1)), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	at := func(path string) url.URL { return url.URL{Scheme: "https", Host: name, Path: path} }
	return provider{&saml.IdentityProvider{Key: key, Certificate: cert, Logger: log.New(io.Discard, "", 0),
		MetadataURL: at("/metadata"), SSOURL: at("/sso"),
		SignatureMethod: dsig.RSASHA256SignatureMethod}}
}

func (p provider) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate.Raw}))
}

// request is a sign-in of someone at the provider, for this service, with the assertion made but
// not signed.
func (p provider) request(t testing.TB, email string) *saml.IdpAuthnRequest {
	req := &saml.IdpAuthnRequest{IDP: p.IdentityProvider, HTTPRequest: httptest.NewRequest("GET", "/", nil),
		Now:                     time.Now().UTC(),
		ServiceProviderMetadata: &saml.EntityDescriptor{EntityID: base}, SPSSODescriptor: &saml.SPSSODescriptor{},
		ACSEndpoint: &saml.IndexedEndpoint{Binding: saml.HTTPPostBinding, Location: base + "/g/sso"}}
	session := &saml.Session{ID: "s", CreateTime: req.Now, ExpireTime: req.Now.Add(time.Hour), Index: "1",
		NameID: email, UserEmail: email, NameIDFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"}
	require.NoError(t, saml.DefaultAssertionMaker{}.MakeAssertion(req, session))
	return req
}

// message is the response that the provider sends, after change has had its way with the assertion.
func (p provider) message(t testing.TB, email string, change func(*saml.IdpAuthnRequest)) *etree.Element {
	req := p.request(t, email)
	if change != nil {
		change(req)
	}
	require.NoError(t, req.MakeResponse())
	return req.ResponseEl.Copy()
}

// assertionOnly is the message with the assertion signed and the response not, as many providers
// send it.
func (p provider) assertionOnly(t testing.TB, email string) *etree.Element {
	el := p.message(t, email, nil)
	el.RemoveChild(child(el, "Signature"))
	return el
}

// responseOnly is the message with the response signed and the assertion not.
func (p provider) responseOnly(t testing.TB, email string) *etree.Element {
	el := p.message(t, email, nil)
	el.RemoveChild(child(el, "Signature"))
	a := child(el, "Assertion")
	a.RemoveChild(child(a, "Signature"))
	return p.sign(t, el)
}

// sign signs an element and puts the signature behind its issuer, where the schema wants it.
func (p provider) sign(t testing.TB, el *etree.Element) *etree.Element {
	ctx, err := dsig.NewSigningContext(p.Key.(*rsa.PrivateKey), [][]byte{p.Certificate.Raw})
	require.NoError(t, err)
	ctx.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	out, err := ctx.SignEnveloped(el)
	require.NoError(t, err)
	sig := child(out, "Signature")
	out.Child = out.Child[:len(out.Child)-1] // SignEnveloped appends it without telling it of its parent
	out.InsertChildAt(1, sig)
	return out
}

func child(el *etree.Element, tag string) *etree.Element {
	for _, c := range el.ChildElements() {
		if c.Tag == tag {
			return c
		}
	}
	return nil
}

func text(t testing.TB, el *etree.Element) string {
	doc := etree.NewDocument()
	doc.SetRoot(el)
	raw, err := doc.WriteToBytes()
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(raw)
}

// fixture is a service provider over a real store with the accounts a and b, each with a provider
// and the users anna and boss of a, bert of b.
type fixture struct {
	store *store.Store
	sp    *ServiceProvider
	a, b  provider
	ids   map[string]string
	path  string
	shift time.Duration // of the store's clock
}

func newFixture(t testing.TB) *fixture {
	b := &fixture{a: newProvider(t, 0, "idp.a.org"), b: newProvider(t, 1, "idp.b.org"), ids: map[string]string{},
		path: filepath.Join(t.TempDir(), "identity.db")}
	b.open(t)
	t.Cleanup(func() { _ = b.store.Close() })
	for id, p := range map[string]provider{"a": b.a, "b": b.b} {
		a := model.NewAccount()
		a.ID, a.Status, a.BrandCertificate = id, model.Texts{model.StatusActive}, p.pem()
		_, err := b.store.CreateAccount(a)
		require.NoError(t, err)
	}
	for email, account := range map[string]string{"anna@a.org": "a", "boss@a.org": "a", "bert@b.org": "b"} {
		u := model.NewUser()
		u.Email, u.OwnerAccountID, u.IsActive, u.IsPending = email, account, true, false
		u, err := b.store.CreateUser(u)
		require.NoError(t, err)
		b.ids[email] = u.ID
	}
	return b
}

func (b *fixture) open(t testing.TB) {
	var err error
	b.store, err = store.Open(b.path, store.Options{Now: func() time.Time { return time.Now().Add(b.shift) },
		Volatile: true})
	require.NoError(t, err)
	b.sp, err = New(Options{Store: b.store, BaseURL: base})
	require.NoError(t, err)
}

func (b *fixture) account(t testing.TB, id string, f func(*model.Account)) {
	require.NoError(t, b.store.Update(func(tx *store.Tx) error {
		a, err := tx.Account(id)
		f(&a)
		require.NoError(t, err)
		return tx.PutAccount(a)
	}))
}
