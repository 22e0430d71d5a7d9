package saml

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
	xrv "github.com/mattermost/xml-roundtrip-validator"

	"vmsbridge/uplink/identity/api"
)

const (
	nsProtocol  = "urn:oasis:names:tc:SAML:2.0:protocol"
	nsAssertion = "urn:oasis:names:tc:SAML:2.0:assertion"
	nsSignature = "http://www.w3.org/2000/09/xmldsig#"
)

// Bounds on a message. Real ones have some 100 elements in 10 KiB.
const (
	maxBytes    = 256 << 10
	maxDepth    = 40
	maxElements = 4000
)

// message is a response of the form that identity providers send, and not yet to be believed.
type message struct {
	response  *etree.Element
	assertion *etree.Element // child of response
	head      saml.Response
}

func unreadable(format string, a ...any) error {
	return api.NewError(api.CodeArguments, "InvalidSAMLResponse", "the SAML response cannot be read: "+
		fmt.Sprintf(format, a...))
}

// read takes a message apart. The error is a 400.
func read(text string) (*message, error) {
	if text == "" {
		return nil, api.NewError(api.CodeArguments, "MissingArgument", "missing arguments: SAMLResponse")
	}
	if len(text) > base64.StdEncoding.EncodedLen(maxBytes) {
		return nil, unreadable("it is larger than %d bytes", maxBytes)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, unreadable("it is not base64")
	}
	if err := scan(raw); err != nil {
		return nil, unreadable("%v", err)
	}
	if err := xrv.Validate(bytes.NewReader(raw)); err != nil {
		return nil, unreadable("it reads differently when it is written again")
	}
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(raw); err != nil || doc.Root() == nil {
		return nil, unreadable("it is not XML")
	}
	return shape(doc.Root())
}

// scan refuses what no identity provider sends and what is needed for attacks: document types and
// with them entities, comments and processing instructions, which may split a text after it was
// signed, and depth and size without end.
func scan(raw []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(raw))
	depth, elements, begun := 0, 0, false
	for {
		token, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			if depth != 0 || elements == 0 {
				return errors.New("it is not a whole document")
			}
			return nil
		} else if err != nil {
			return errors.New("it is not XML")
		}
		switch t := token.(type) {
		case xml.Directive:
			return errors.New("it has a document type")
		case xml.Comment:
			return errors.New("it has a comment")
		case xml.ProcInst:
			if t.Target != "xml" || begun {
				return errors.New("it has a processing instruction")
			}
		case xml.StartElement:
			if depth == 0 && elements > 0 {
				return errors.New("it is more than one document")
			}
			depth, elements = depth+1, elements+1
			if depth > maxDepth || elements > maxElements {
				return errors.New("it has too many elements")
			}
		case xml.EndElement:
			depth--
		}
		begun = true
	}
}

// shape holds a message to the one form that is taken: a Response with one Assertion as its child,
// signatures only as children of these two, no id twice, nothing encrypted.
func shape(root *etree.Element) (*message, error) {
	if root.Tag != "Response" || root.NamespaceURI() != nsProtocol {
		return nil, unreadable("it is no samlp:Response")
	}
	m := &message{response: root}
	ids := map[string]bool{}
	var walk func(*etree.Element) error
	walk = func(el *etree.Element) error {
		for _, a := range el.Attr {
			if a.Space == "" && strings.EqualFold(a.Key, "id") || a.Space == "xml" && a.Key == "id" {
				if ids[a.Value] || a.Value == "" {
					return unreadable("an id stands twice")
				}
				ids[a.Value] = true
			}
		}
		switch ns := el.NamespaceURI(); {
		case strings.HasPrefix(el.Tag, "Encrypted"):
			return api.NewError(api.CodeArguments, "EncryptedAssertion",
				"the assertion is encrypted; let the identity provider sign it and not encrypt it")
		case el.Tag == "Response" && el != root:
			return unreadable("it has a response within")
		case el.Tag == "Assertion":
			if m.assertion != nil || el.Parent() != root || ns != nsAssertion {
				return unreadable("it must have one assertion, in its place")
			}
			m.assertion = el
		case el.Tag == "Signature":
			if p := el.Parent(); ns != nsSignature || p != root && (p != m.assertion || m.assertion == nil) {
				return unreadable("it has a signature in another place")
			}
		case el.Tag == "Object" && ns == nsSignature:
			return unreadable("its signature holds an object")
		}
		for _, child := range el.ChildElements() {
			if err := walk(child); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return nil, err
	}
	if m.assertion == nil {
		return nil, unreadable("it has no assertion")
	}
	if err := decode(root, &m.head); err != nil {
		return nil, unreadable("its fields are not those of a response")
	}
	return m, nil
}

// decode reads an element into one of the library's records.
func decode(el *etree.Element, v any) error {
	doc := etree.NewDocument()
	doc.SetRoot(el.Copy())
	raw, err := doc.WriteToBytes()
	if err != nil {
		return err
	}
	return xml.Unmarshal(raw, v)
}
