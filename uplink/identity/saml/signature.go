package saml

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"
	"github.com/russellhaering/goxmldsig/etreeutils"
)

// The algorithms that are taken: none with SHA-1 or MD5, for which other documents of the same
// signature can be made.
var (
	signatures = []string{dsig.RSASHA256SignatureMethod, dsig.RSASHA384SignatureMethod, dsig.RSASHA512SignatureMethod,
		dsig.ECDSASHA256SignatureMethod, dsig.ECDSASHA384SignatureMethod, dsig.ECDSASHA512SignatureMethod}
	digests = []string{"http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#sha384",
		"http://www.w3.org/2001/04/xmlenc#sha512"}
)

// form reports what keeps any certificate from having signed the message in a way that is taken.
func (m *message) form() error {
	inner, err := signatureOf(m.assertion)
	if err != nil {
		return fmt.Errorf("check assertion: %w", err)
	}
	outer, err := signatureOf(m.response)
	if err != nil {
		return fmt.Errorf("check response: %w", err)
	}
	if inner == nil && outer == nil {
		return errors.New("it is not signed")
	}
	return nil
}

// verify gives back the assertion as a certificate signed it, rebuilt from the bytes that were
// verified. Every signature of the message must be good; that of the response alone is enough,
// since the assertion is within.
func (m *message) verify(cert *x509.Certificate, now time.Time) (*etree.Element, error) {
	inner, err := signatureOf(m.assertion)
	if err != nil {
		return nil, fmt.Errorf("check assertion: %w", err)
	}
	outer, err := signatureOf(m.response)
	if err != nil {
		return nil, fmt.Errorf("check response: %w", err)
	}
	var signed *etree.Element
	if outer != nil {
		response, err := verified(m.response, cert, now)
		if err != nil {
			return nil, fmt.Errorf("check response: %w", err)
		}
		for _, el := range response.ChildElements() {
			if el.Tag == "Assertion" && el.NamespaceURI() == nsAssertion {
				signed = el
			}
		}
		if signed == nil {
			return nil, errors.New("check response: what is signed holds no assertion")
		}
	}
	if inner != nil {
		if signed, err = verified(m.assertion, cert, now); err != nil {
			return nil, fmt.Errorf("check assertion: %w", err)
		}
	}
	if signed == nil {
		return nil, errors.New("it is not signed")
	}
	return signed, nil
}

// signatureOf is the signature that is a child of an element, nil if there is none. It must refer
// to that element by its id, with an algorithm that is taken, and to nothing else.
func signatureOf(el *etree.Element) (*etree.Element, error) {
	sig, err := only(el, nsSignature, "Signature", true)
	if sig == nil {
		return nil, err
	}
	info, err := only(sig, nsSignature, "SignedInfo", false)
	if err != nil {
		return nil, err
	}
	ref, err1 := only(info, nsSignature, "Reference", false)
	method, err2 := only(info, nsSignature, "SignatureMethod", false)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	digest, err := only(ref, nsSignature, "DigestMethod", false)
	if err != nil {
		return nil, err
	}
	id := el.SelectAttrValue("ID", "")
	switch {
	case id == "" || ref.SelectAttrValue("URI", "") != "#"+id:
		return nil, errors.New("the signature refers to something else")
	case !slices.Contains(signatures, method.SelectAttrValue("Algorithm", "")),
		!slices.Contains(digests, digest.SelectAttrValue("Algorithm", "")):
		return nil, errors.New("the signature's algorithm is not taken: use RSA or ECDSA with SHA-256 or better")
	}
	return sig, nil
}

// only is the one child of a name.
func only(el *etree.Element, ns, tag string, optional bool) (*etree.Element, error) {
	var out *etree.Element
	for _, child := range el.ChildElements() {
		if child.Tag != tag {
			continue
		}
		if out != nil || child.NamespaceURI() != ns {
			return nil, fmt.Errorf("%s must stand once", tag)
		}
		out = child
	}
	if out == nil && !optional {
		return nil, fmt.Errorf("%s is missing", tag)
	}
	return out, nil
}

// verified is an element as a certificate signed it. What the signature says of its key is left
// aside: only the account's certificate counts.
func verified(el *etree.Element, cert *x509.Certificate, now time.Time) (*etree.Element, error) {
	ctx, err := etreeutils.NSBuildParentContext(el)
	if err == nil {
		ctx, err = ctx.SubContext(el)
	}
	if err != nil {
		return nil, fmt.Errorf("read namespaces: %w", err)
	}
	alone, err := etreeutils.NSDetatch(ctx, el)
	if err != nil {
		return nil, fmt.Errorf("read namespaces: %w", err)
	}
	for _, sig := range alone.ChildElements() {
		if sig.Tag != "Signature" {
			continue
		}
		for _, key := range sig.ChildElements() {
			if key.Tag == "KeyInfo" {
				sig.RemoveChild(key)
			}
		}
	}
	v := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{cert}})
	v.IdAttribute, v.Clock = "ID", dsig.NewFakeClockAt(now)
	signed, err := v.Validate(alone)
	if err != nil {
		return nil, err
	}
	if signed == nil || signed.Tag != el.Tag || signed.SelectAttrValue("ID", "") != el.SelectAttrValue("ID", "") {
		return nil, errors.New("something else is signed")
	}
	return signed, nil
}
