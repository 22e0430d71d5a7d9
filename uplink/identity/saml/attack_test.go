package saml

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
)

// evil is a copy of the message's assertion without its signature, with another id and the address
// of the boss.
func evil(m *etree.Element) *etree.Element {
	out := child(m, "Assertion").Copy()
	if sig := child(out, "Signature"); sig != nil {
		out.RemoveChild(sig)
	}
	out.CreateAttr("ID", "evil")
	child(child(out, "Subject"), "NameID").SetText("boss@a.org")
	return out
}

// evilResponse is the message without its signature and with an evil assertion only.
func evilResponse(m *etree.Element) *etree.Element {
	out := m.Copy()
	if sig := child(out, "Signature"); sig != nil {
		out.RemoveChild(sig)
	}
	bad := evil(m)
	out.RemoveChild(child(out, "Assertion"))
	out.AddChild(bad)
	out.CreateAttr("ID", "evil-response")
	return out
}

// attacks are the eight ways to wrap a signature of Somorovsky et al. and their kin. Anna has a
// good message for herself and would be the boss.
var attacks = map[string]func(m *etree.Element) *etree.Element{
	"XSW1: signed response within the signature of an evil one": func(m *etree.Element) *etree.Element {
		out := evilResponse(m)
		sig := child(m, "Signature")
		if sig == nil {
			sig = child(child(m, "Assertion"), "Signature")
		}
		sig = sig.Copy()
		sig.AddChild(m.Copy())
		out.InsertChildAt(1, sig)
		return out
	},
	"XSW2: signed response beside its signature in an evil one": func(m *etree.Element) *etree.Element {
		out := evilResponse(m)
		sig := child(m, "Signature")
		inner := m.Copy()
		if sig == nil {
			sig = child(child(m, "Assertion"), "Signature")
		} else {
			inner.RemoveChild(child(inner, "Signature"))
		}
		out.InsertChildAt(1, sig.Copy())
		out.InsertChildAt(1, inner)
		return out
	},
	"XSW3: evil assertion before the signed one": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		out.InsertChildAt(child(out, "Assertion").Index(), evil(m))
		return out
	},
	"XSW3 turned: evil assertion behind the signed one": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		out.AddChild(evil(m))
		return out
	},
	"XSW4: signed assertion within the evil one": func(m *etree.Element) *etree.Element {
		out, bad := m.Copy(), evil(m)
		good := child(out, "Assertion")
		out.RemoveChild(good)
		bad.AddChild(good)
		out.AddChild(bad)
		return out
	},
	"XSW5: signature in the evil assertion, signed one at the end": func(m *etree.Element) *etree.Element {
		out, bad := m.Copy(), evil(m)
		good := child(out, "Assertion")
		out.RemoveChild(good)
		if sig := child(good, "Signature"); sig != nil {
			good.RemoveChild(sig)
			bad.InsertChildAt(1, sig)
		}
		out.AddChild(bad)
		out.AddChild(good)
		return out
	},
	"XSW6: signed assertion in the signature in the evil one": func(m *etree.Element) *etree.Element {
		out, bad := m.Copy(), evil(m)
		good := child(out, "Assertion")
		out.RemoveChild(good)
		if sig := child(good, "Signature"); sig != nil {
			good.RemoveChild(sig)
			sig.AddChild(good)
			bad.InsertChildAt(1, sig)
		}
		out.AddChild(bad)
		return out
	},
	"XSW7: evil assertion in an extension": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		ext := etree.NewElement("samlp:Extensions")
		ext.AddChild(evil(m))
		out.InsertChildAt(1, ext)
		return out
	},
	"XSW8: signed assertion in an object of the signature": func(m *etree.Element) *etree.Element {
		out, bad := m.Copy(), evil(m)
		good := child(out, "Assertion")
		out.RemoveChild(good)
		if sig := child(good, "Signature"); sig != nil {
			good.RemoveChild(sig)
			object := etree.NewElement("ds:Object")
			object.AddChild(good)
			sig.AddChild(object)
			bad.InsertChildAt(1, sig)
		}
		out.AddChild(bad)
		return out
	},
	"same id twice": func(m *etree.Element) *etree.Element {
		out, bad := m.Copy(), evil(m)
		bad.CreateAttr("ID", child(m, "Assertion").SelectAttrValue("ID", ""))
		out.InsertChildAt(1, bad)
		return out
	},
	"not signed": evilResponse,
	"address edited": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		child(child(child(out, "Assertion"), "Subject"), "NameID").SetText("boss@a.org")
		return out
	},
	"second address": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		child(child(out, "Assertion"), "Subject").CreateElement("saml:NameID").SetText("boss@a.org")
		return out
	},
	"signature that refers to nothing": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		for _, el := range out.FindElements("//Reference") {
			el.CreateAttr("URI", "")
		}
		child(child(child(out, "Assertion"), "Subject"), "NameID").SetText("boss@a.org")
		return out
	},
	"signature without value": func(m *etree.Element) *etree.Element {
		out := m.Copy()
		for _, el := range out.FindElements("//SignatureValue") {
			el.SetText("")
		}
		return out
	},
}

func TestWrappedSignatures(t *testing.T) {
	b := newFixture(t)
	for kind, make := range map[string]func(testing.TB, string) *etree.Element{"assertion": b.a.assertionOnly,
		"response": b.a.responseOnly,
		"both":     func(t testing.TB, email string) *etree.Element { return b.a.message(t, email, nil) }} {
		for name, attack := range attacks {
			t.Run(kind+" signed/"+name, func(t *testing.T) {
				user, _, err := b.sp.User(t.Context(), text(t, attack(make(t, "anna@a.org"))))
				require.Contains(t, []int{400, 401}, code(err), "%v", err)
				require.Empty(t, user)
			})
		}
		user, _, err := b.sp.User(t.Context(), text(t, make(t, "boss@a.org")))
		require.NoError(t, err, "what the attackers would have works for the boss: %s", kind)
		require.Equal(t, b.ids["boss@a.org"], user)
	}
}

// A message that someone else signed, with or without a claim to be the account's provider, is
// worth nothing.
func TestWrongKey(t *testing.T) {
	b := newFixture(t)
	liar := *b.b.IdentityProvider
	liar.MetadataURL = b.a.MetadataURL
	lied := provider{&liar}
	_, _, err := b.sp.User(t.Context(), text(t, lied.message(t, "anna@a.org", nil)))
	require.Equal(t, 404, code(err), "b's provider signed it, and b has no such user")
	stranger := newProvider(t, 1, "idp.stranger.org")
	b.account(t, "b", func(a *model.Account) { a.BrandCertificate = "" })
	_, _, err = b.sp.User(t.Context(), text(t, stranger.message(t, "anna@a.org", nil)))
	require.Equal(t, 401, code(err))
	// The certificate of a in the message of b does not make it a's.
	m := lied.message(t, "anna@a.org", nil)
	for _, el := range m.FindElements("//X509Certificate") {
		el.SetText(base64.StdEncoding.EncodeToString(b.a.Certificate.Raw))
	}
	_, _, err = b.sp.User(t.Context(), text(t, m))
	require.Equal(t, 401, code(err))
}

// Whatever is sent, nobody but the one whom the provider signed for gets in.
func FuzzMessage(f *testing.F) {
	b := newFixture(f)
	for _, m := range []*etree.Element{b.a.message(f, "anna@a.org", nil), b.a.assertionOnly(f, "anna@a.org"),
		b.a.responseOnly(f, "anna@a.org")} {
		for _, x := range append([]*etree.Element{m}, attacks["XSW3: evil assertion before the signed one"](m),
			attacks["XSW8: signed assertion in an object of the signature"](m)) {
			raw, err := base64.StdEncoding.DecodeString(text(f, x.Copy()))
			require.NoError(f, err)
			f.Add(raw)
		}
	}
	f.Add([]byte(`<!DOCTYPE a><a/>`))
	f.Add([]byte(`<samlp:Response xmlns:samlp="` + nsProtocol + `"><Assertion xmlns="` + nsAssertion +
		`"><Signature xmlns="` + nsSignature + `"/></Assertion></samlp:Response>`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		user, _, err := b.sp.User(t.Context(), base64.StdEncoding.EncodeToString(raw))
		if err == nil && user != b.ids["anna@a.org"] {
			t.Fatalf("%q signs in as %q", raw, user)
		}
		if c := code(err); c != 200 && c != 400 && c != 401 && c != 404 {
			t.Fatalf("%q: %v", raw, err)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "/samlp:Response/saml:Assertion/saml:Subject/saml:NameID",
		"//Attribute[@Name='email']/AttributeValue", "Subject/NameID/text()", "a[@b=\"c\"]//d", "[", "a[@b='", "//",
		"a/", strings.Repeat("a/", 30)} {
		f.Add(s)
	}
	doc := etree.NewDocument()
	require.NoError(f, doc.ReadFromString(`<a:Assertion xmlns:a="x"><a:Subject><a:NameID>anna</a:NameID></a:Subject><a:Attribute Name="email"><a:AttributeValue>b</a:AttributeValue></a:Attribute></a:Assertion>`))
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		if got, err := p.Text(doc.Root()); err == nil && got != "anna" && got != "b" {
			t.Fatalf("%q finds %q", s, got)
		}
	})
}

func TestPath(t *testing.T) {
	doc := etree.NewDocument()
	require.NoError(t, doc.ReadFromString(`<s:Assertion xmlns:s="x"><s:Subject><s:NameID> anna </s:NameID></s:Subject>`+
		`<s:Attributes><s:Attribute Name="email"><s:Value>bert</s:Value></s:Attribute><s:Attribute Name="twice"><s:Value>1</s:Value><s:Value>2</s:Value></s:Attribute>`+
		`<s:Attribute Name="deep"><s:Value>a<s:b/></s:Value></s:Attribute><s:Attribute Name="none"><s:Value/></s:Attribute></s:Attributes></s:Assertion>`))
	for path, want := range map[string]string{"": "anna", "Subject/NameID": "anna",
		"/samlp:Response/saml:Assertion/saml:Subject/saml:NameID": "anna", "//NameID": "anna",
		"/Assertion/Subject/NameID/text()": "anna", "//Attribute[@Name='email']/Value": "bert",
		`Attributes/Attribute[@Name="email"]/*`: "!", "//Value": "!",
		"//Attribute[@Name='twice']/Value": "!", "//Attribute[@Name='deep']/Value": "!",
		"//Attribute[@Name='none']/Value": "!", "//Nothing": "!", "a//": "!", "/": "!",
		"Subject[NameID]": "!", "a]b": "!", "Subject/NameID[@x=y]": "!", "NameID": "!"} {
		p, err := ParsePath(path)
		got := "!"
		if err == nil {
			if text, err := p.Text(doc.Root()); err == nil {
				got = text
			}
		}
		require.Equal(t, want, got, path)
	}
}

// The version stands in a place that the library's provider does not let anyone choose.
func TestVersion(t *testing.T) {
	b := newFixture(t)
	m := b.a.assertionOnly(t, "anna@a.org")
	a := child(m, "Assertion")
	m.RemoveChild(a)
	a.RemoveChild(child(a, "Signature"))
	a.CreateAttr("Version", "1.1")
	m.AddChild(b.a.sign(t, a))
	_, _, err := b.sp.User(t.Context(), text(t, m))
	require.Equal(t, 401, code(err))
}
