package saml

import (
	"bytes"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

func code(err error) int {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return -1
	}
	return 200
}

func TestGoodMessages(t *testing.T) {
	b := newFixture(t)
	for name, el := range map[string]*etree.Element{"both signed": b.a.message(t, "anna@a.org", nil),
		"assertion signed": b.a.assertionOnly(t, "ANNA@a.org"),
		"response signed":  b.a.responseOnly(t, "anna@a.org")} {
		user, _, err := b.sp.User(t.Context(), text(t, el))
		require.NoError(t, err, name)
		require.Equal(t, b.ids["anna@a.org"], user, name)
	}
	lines := text(t, b.a.message(t, "anna@a.org", nil))
	_, _, err := b.sp.User(t.Context(), lines[:76]+"\r\n"+lines[76:]+"\n")
	require.NoError(t, err, "base64 in lines")
	b.account(t, "a", func(a *model.Account) {
		a.BrandNameIDPath = "//saml:Attribute[@FriendlyName='mail']/saml:AttributeValue"
	})
	user, _, err := b.sp.User(t.Context(), text(t,
		b.a.message(t, "anna@a.org", func(r *saml.IdpAuthnRequest) {
			r.Assertion.Subject.NameID.Value = "bert@b.org"
		})))
	require.NoError(t, err)
	require.Equal(t, b.ids["anna@a.org"], user)
}

// An account's provider speaks for the users of that account, whoever else it names, and whoever
// registers its certificate.
func TestProviderSpeaksForItsOwnAccount(t *testing.T) {
	b := newFixture(t)
	user, _, err := b.sp.User(t.Context(), text(t, b.b.message(t, "anna@a.org", nil)))
	require.Equal(t, 404, code(err))
	require.Empty(t, user)
	// b registers a's certificate: a's messages still sign a's users in, and nobody else.
	b.account(t, "b", func(a *model.Account) { a.BrandCertificate = b.a.pem() })
	user, _, err = b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", nil)))
	require.NoError(t, err)
	require.Equal(t, b.ids["anna@a.org"], user)
	_, _, err = b.sp.User(t.Context(), text(t, b.b.message(t, "bert@b.org", nil)))
	require.Equal(t, 401, code(err), "the certificate was replaced")
	b.account(t, "a", func(a *model.Account) { a.Status = model.Texts{model.StatusSuspended} })
	_, _, err = b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", nil)))
	require.Equal(t, 404, code(err))
}

func TestReplay(t *testing.T) {
	b := newFixture(t)
	m := text(t, b.a.message(t, "anna@a.org", nil))
	_, _, err := b.sp.User(t.Context(), m)
	require.NoError(t, err)
	_, _, err = b.sp.User(t.Context(), m)
	require.Equal(t, 401, code(err))
	// The same assertion in another envelope is the same assertion.
	raw, err := base64.StdEncoding.DecodeString(m)
	require.NoError(t, err)
	doc := etree.NewDocument()
	require.NoError(t, doc.ReadFromBytes(raw))
	el := doc.Root()
	el.RemoveChild(child(el, "Signature"))
	el.CreateAttr("ID", "another")
	_, _, err = b.sp.User(t.Context(), text(t, el))
	require.Equal(t, 401, code(err))
	// Also after a restart.
	require.NoError(t, b.store.Close())
	b.open(t)
	_, _, err = b.sp.User(t.Context(), m)
	require.Equal(t, 401, code(err))
	for range 20 {
		_, _, err = b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", nil)))
		require.NoError(t, err)
	}
	require.Equal(t, 21, b.used(t, 's'))
	// What is refused for its age anyway is forgotten.
	b.shift = fresh + time.Minute
	saml.TimeNow = func() time.Time { return time.Now().Add(b.shift).UTC() }
	defer func() { saml.TimeNow = func() time.Time { return time.Now().UTC() } }()
	_, _, err = b.sp.User(t.Context(), m)
	require.Equal(t, 401, code(err))
	for range 3 {
		_, _, err = b.sp.User(t.Context(), text(t,
			b.a.message(t, "anna@a.org", func(r *saml.IdpAuthnRequest) { shift(r, b.shift) })))
		require.NoError(t, err)
	}
	require.Equal(t, 3, b.used(t, 's'))
	require.Equal(t, 3, b.used(t, 't'))
}

func shift(r *saml.IdpAuthnRequest, d time.Duration) {
	r.Now = r.Now.Add(d)
	c := r.Assertion.Conditions
	c.NotBefore, c.NotOnOrAfter = c.NotBefore.Add(d), c.NotOnOrAfter.Add(d)
	data := r.Assertion.Subject.SubjectConfirmations[0].SubjectConfirmationData
	data.NotOnOrAfter = data.NotOnOrAfter.Add(d)
}

func (b *fixture) used(t *testing.T, kind byte) (n int) {
	require.NoError(t, b.store.View(func(tx *store.Tx) error {
		n = 0
		for range tx.Bucket(bucket).Range(database.Prefix([]byte{kind})) {
			n++
		}
		return nil
	}))
	return n
}

// A provider that signs for many tenants with one key speaks for the one that an account began
// with.
func TestIssuerIsPinned(t *testing.T) {
	b := newFixture(t)
	_, _, err := b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", nil)))
	require.NoError(t, err)
	other := b.a
	clone := *b.a.IdentityProvider
	clone.MetadataURL.Host = "other-tenant.a.org"
	other.IdentityProvider = &clone
	_, _, err = b.sp.User(t.Context(), text(t, other.message(t, "anna@a.org", nil)))
	require.Equal(t, 401, code(err))
}

// What the assertion says must hold, each alone.
func TestUntrustedAssertions(t *testing.T) {
	b := newFixture(t)
	confirmation := func(r *saml.IdpAuthnRequest) *saml.SubjectConfirmation {
		return &r.Assertion.Subject.SubjectConfirmations[0]
	}
	for name, change := range map[string]func(*saml.IdpAuthnRequest){
		"expired": func(r *saml.IdpAuthnRequest) {
			r.Assertion.Conditions.NotOnOrAfter = r.Now.Add(
				-skew - time.Second)
		},
		"not yet valid": func(r *saml.IdpAuthnRequest) {
			r.Assertion.Conditions.NotBefore = r.Now.Add(skew +
				time.Minute)
		},
		"without end":        func(r *saml.IdpAuthnRequest) { r.Assertion.Conditions.NotOnOrAfter = time.Time{} },
		"without conditions": func(r *saml.IdpAuthnRequest) { r.Assertion.Conditions = nil },
		"old": func(r *saml.IdpAuthnRequest) {
			r.Assertion.IssueInstant = r.Now.Add(
				-fresh - time.Second)
		},
		"old response": func(r *saml.IdpAuthnRequest) { r.Now = r.Now.Add(-fresh - time.Second) },
		"of the future": func(r *saml.IdpAuthnRequest) {
			r.Assertion.IssueInstant = r.Now.Add(skew +
				time.Minute)
		},
		"other audience": func(r *saml.IdpAuthnRequest) {
			r.Assertion.Conditions.AudienceRestrictions[0].Audience.Value = base + ".evil.org"
		},
		"no audience": func(r *saml.IdpAuthnRequest) { r.Assertion.Conditions.AudienceRestrictions = nil },
		"one restriction of two": func(r *saml.IdpAuthnRequest) {
			c := r.Assertion.Conditions
			c.AudienceRestrictions = append(c.AudienceRestrictions,
				saml.AudienceRestriction{Audience: saml.Audience{Value: "x"}})
		},
		"other recipient": func(r *saml.IdpAuthnRequest) {
			confirmation(r).SubjectConfirmationData.Recipient = "https://evil.org/g/sso"
		},
		"other destination": func(r *saml.IdpAuthnRequest) {
			e := *r.ACSEndpoint
			e.Location = "https://evil.org/g/sso"
			r.ACSEndpoint = &e
		},
		"confirmation expired": func(r *saml.IdpAuthnRequest) {
			confirmation(r).SubjectConfirmationData.NotOnOrAfter = r.Now.Add(-skew - time.Second)
		},
		"confirmation not before": func(r *saml.IdpAuthnRequest) {
			confirmation(
				r).SubjectConfirmationData.NotBefore = r.Now
		},
		"answer to a request": func(r *saml.IdpAuthnRequest) {
			confirmation(
				r).SubjectConfirmationData.InResponseTo = "id-1"
		},
		"holder of key": func(r *saml.IdpAuthnRequest) {
			confirmation(
				r).Method = "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"
		},
		"no confirmation":  func(r *saml.IdpAuthnRequest) { r.Assertion.Subject.SubjectConfirmations = nil },
		"no subject":       func(r *saml.IdpAuthnRequest) { r.Assertion.Subject = nil },
		"nobody signed in": func(r *saml.IdpAuthnRequest) { r.Assertion.AuthnStatements = nil },
		"session ended": func(r *saml.IdpAuthnRequest) {
			at := r.Now.Add(-time.Hour)
			r.Assertion.AuthnStatements[0].SessionNotOnOrAfter = &at
		},
		"other issuer":  func(r *saml.IdpAuthnRequest) { r.Assertion.Issuer.Value = "https://idp.b.org/metadata" },
		"no issuer":     func(r *saml.IdpAuthnRequest) { r.Assertion.Issuer.Value = "" },
		"empty address": func(r *saml.IdpAuthnRequest) { r.Assertion.Subject.NameID.Value = " " },
		"SHA-1": func(r *saml.IdpAuthnRequest) {
			clone := *r.IDP
			clone.SignatureMethod = dsig.RSASHA1SignatureMethod
			r.IDP = &clone
		},
	} {
		t.Run(name, func(t *testing.T) {
			user, _, err := b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", change)))
			require.Equal(t, 401, code(err), "%v", err)
			require.Empty(t, user)
		})
	}
	_, _, err := b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", nil)))
	require.NoError(t, err, "the message that the others were made of is good")
	_, _, err = b.sp.User(t.Context(), text(t, b.a.message(t, "nobody@a.org", nil)))
	require.Equal(t, 404, code(err))
	b.shift = 48 * time.Hour
	_, _, err = b.sp.User(t.Context(), text(t,
		b.a.message(t, "anna@a.org", func(r *saml.IdpAuthnRequest) {
			shift(r,
				b.shift)
			r.Assertion.IssueInstant = r.Now
		})))
	require.Equal(t, 401, code(err), "the provider's certificate has expired")
}

// A message that is not one is a 400, and says why.
func TestUnreadable(t *testing.T) {
	b := newFixture(t)
	good := func() string {
		raw, err := base64.StdEncoding.DecodeString(text(t, b.a.message(t, "anna@a.org", nil)))
		require.NoError(t, err)
		return string(raw)
	}
	bomb := `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>`
	for name, x := range map[string]struct{ xml, say string }{
		"bomb":                   {bomb + strings.Replace(good(), "anna@a.org", "&b;", 1), "document type"},
		"document type":          {`<!DOCTYPE r SYSTEM "file:///etc/passwd">` + good(), "document type"},
		"comment in the address": {strings.ReplaceAll(good(), "anna@a.org", "anna@a.org<!---->.evil.org"), "comment"},
		"instruction": {strings.ReplaceAll(good(), "anna@a.org", "anna@a.org<?x y?>.evil.org"),
			"instruction"},
		"entity":        {strings.ReplaceAll(good(), "anna@a.org", "&anna;"), "read"},
		"deep":          {strings.Repeat("<a>", 50000), "too many"},
		"wide":          {"<a>" + strings.Repeat("<a/>", 10000) + "</a>", "too many"},
		"cut":           {good()[:1000], "whole document"},
		"two documents": {good() + good(), "more than one"},
		"text":          {"hello", "whole document"},
		"request": {`<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>`,
			"samlp:Response"},
		"no assertion": {`<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>`,
			"no assertion"},
		"namespace": {strings.ReplaceAll(good(), "urn:oasis:names:tc:SAML:2.0:assertion", "urn:x"),
			"in its place"},
		"large": {strings.Repeat(" ", maxBytes+10), "larger"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := b.sp.User(t.Context(), base64.StdEncoding.EncodeToString([]byte(x.xml)))
			require.Equal(t, 400, code(err), "%v", err)
			require.ErrorContains(t, err, x.say)
		})
	}
	for _, s := range []string{"", "%%%", "<xml/>", "PHg"} {
		_, _, err := b.sp.User(t.Context(), s)
		require.Equal(t, 400, code(err))
	}
	encrypted := etree.NewElement("saml:EncryptedAssertion")
	el := b.a.message(t, "anna@a.org", nil)
	el.RemoveChild(child(el, "Assertion"))
	encrypted.CreateAttr("xmlns:saml", nsAssertion)
	el.AddChild(encrypted)
	_, _, err := b.sp.User(t.Context(), text(t, el))
	require.Equal(t, 400, code(err))
	require.ErrorContains(t, err, "encrypted")
}

func TestNewWantsAnAddress(t *testing.T) {
	b := newFixture(t)
	for _, bad := range []string{"", "/x", "%"} {
		_, err := New(Options{Store: b.store, BaseURL: bad})
		require.Error(t, err)
	}
	require.Equal(t, base+"/g/sso", b.sp.Consumer())
	require.Equal(t, base, b.sp.Audience())
}

// Of many who post one message at once, one is let in.
func TestReplayAtOnce(t *testing.T) {
	b := newFixture(t)
	m := text(t, b.a.message(t, "anna@a.org", nil))
	codes := make(chan int, 8)
	var all sync.WaitGroup
	for range cap(codes) {
		all.Go(func() {
			_, _, err := b.sp.User(t.Context(), m)
			codes <- code(err)
		})
	}
	all.Wait()
	close(codes)
	seen := map[int]int{}
	for c := range codes {
		seen[c]++
	}
	require.Equal(t, map[int]int{200: 1, 401: 7}, seen)
}

// A response that answers a request is refused by its head too, which nobody signed here.
func TestAnAnswerIsRefusedByItsHead(t *testing.T) {
	b := newFixture(t)
	m := b.a.assertionOnly(t, "anna@a.org")
	m.CreateAttr("InResponseTo", "id-1")
	_, _, err := b.sp.User(t.Context(), text(t, m))
	require.Equal(t, 401, code(err))
}

func TestMultiFactor(t *testing.T) {
	b := newFixture(t)
	attribute := func(name, value string) func(*saml.IdpAuthnRequest) {
		return func(r *saml.IdpAuthnRequest) {
			r.Assertion.AttributeStatements = append(r.Assertion.AttributeStatements,
				saml.AttributeStatement{Attributes: []saml.Attribute{{Name: name,
					NameFormat: "urn:oasis:names:tc:SAML:2.0:attrname-format:uri",
					Values: []saml.AttributeValue{{Type: "xs:string", Value: "x"},
						{Type: "xs:string", Value: value}}}}})
		}
	}
	context := func(ref *saml.AuthnContextClassRef) func(*saml.IdpAuthnRequest) {
		return func(r *saml.IdpAuthnRequest) { r.Assertion.AuthnStatements[0].AuthnContext.AuthnContextClassRef = ref }
	}
	for name, c := range map[string]struct {
		change func(*saml.IdpAuthnRequest)
		want   bool
	}{
		"by password":              {nil, false},
		"not said":                 {context(nil), false},
		"context":                  {context(&saml.AuthnContextClassRef{Value: twoFactors[0]}), true},
		"something like it":        {context(&saml.AuthnContextClassRef{Value: twoFactors[0] + "x"}), false},
		"method":                   {attribute(methods, multipleAuthn), true},
		"method of something else": {attribute("http://example.org/methods", multipleAuthn), false},
		"another method":           {attribute(methods, "urn:password"), false},
	} {
		_, strong, err := b.sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", c.change)))
		require.NoError(t, err, name)
		require.Equal(t, c.want, strong, name)
	}
}

// The log says what an administrator has to change: the algorithm at the provider, and not the
// certificate.
func TestTheLogSaysWhy(t *testing.T) {
	b := newFixture(t)
	var said bytes.Buffer
	sp, err := New(Options{Store: b.store, BaseURL: base, Log: slog.New(slog.NewTextHandler(&said, nil))})
	require.NoError(t, err)
	weak := func(r *saml.IdpAuthnRequest) {
		clone := *r.IDP
		clone.SignatureMethod = dsig.RSASHA1SignatureMethod
		r.IDP = &clone
	}
	_, _, err = sp.User(t.Context(), text(t, b.a.message(t, "anna@a.org", weak)))
	require.Equal(t, 401, code(err))
	require.Contains(t, said.String(), "SHA-256")
	require.NotContains(t, said.String(), "certificate signed it")
}
