package saml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/beevik/etree"
)

// Path says where in an assertion the user's address stands: brand_saml_nameid_path. Names of
// elements are separated by /, // means at any depth, [@Name='x'] asks for an attribute. Prefixes
// do not count, since each provider chooses its own, and the names of the response and the
// assertion may be left out or not. "" is Subject/NameID.
//
//	/samlp:Response/saml:Assertion/saml:Subject/saml:NameID
//	//Attribute[@Name='email']/AttributeValue
type Path struct{ steps []step }

type step struct {
	name        string
	deep        bool // any depth below
	attr, value string
}

const maxPath = 20

// ParsePath reads a path.
func ParsePath(text string) (Path, error) {
	rest := strings.TrimSuffix(strings.TrimSpace(text), "/text()")
	if rest == "" {
		rest = "Subject/NameID"
	}
	var p Path
	for first := true; rest != ""; first = false {
		var s step
		switch {
		case strings.HasPrefix(rest, "//"):
			s.deep, rest = true, rest[2:]
		case strings.HasPrefix(rest, "/"):
			rest = rest[1:]
		case !first:
			return Path{}, fmt.Errorf("read path: %.80q: names are separated by /", rest)
		}
		end := strings.IndexAny(rest, "/[")
		if end < 0 {
			end = len(rest)
		}
		s.name, rest = rest[:end], rest[end:]
		if i := strings.LastIndexByte(s.name, ':'); i >= 0 {
			s.name = s.name[i+1:]
		}
		if s.name == "" || strings.ContainsAny(s.name, " \t@*().'\"]=") {
			return Path{}, fmt.Errorf("read path: %.80q is no name of an element", s.name)
		}
		if strings.HasPrefix(rest, "[") {
			var err error
			if s.attr, s.value, rest, err = condition(rest); err != nil {
				return Path{}, err
			}
		}
		if p.steps = append(p.steps, s); len(p.steps) > maxPath {
			return Path{}, errors.New("read path: it is too long")
		}
	}
	for _, outer := range []string{"Response", "Assertion"} {
		if len(p.steps) > 1 && p.steps[0].name == outer && p.steps[0].attr == "" {
			p.steps = p.steps[1:]
		}
	}
	return p, nil
}

// condition reads [@name='value'] from the front of rest.
func condition(rest string) (attr, value, after string, err error) {
	bad := errors.New("read path: a condition looks like [@Name='email']")
	rest, ok := strings.CutPrefix(rest, "[@")
	attr, rest, found := strings.Cut(rest, "=")
	if !ok || !found || rest == "" || strings.ContainsAny(attr, "]/'\" ") || attr == "" {
		return "", "", "", bad
	}
	quote := rest[:1]
	if quote != "'" && quote != `"` {
		return "", "", "", bad
	}
	value, rest, found = strings.Cut(rest[1:], quote)
	after, ok = strings.CutPrefix(rest, "]")
	if !found || !ok {
		return "", "", "", bad
	}
	return attr, value, after, nil
}

// Text is the text of the one element at the path, without space around it. More elements than one,
// or one that holds anything but text, are an error: readers could differ in which is meant.
func (p Path) Text(assertion *etree.Element) (string, error) {
	at := []*etree.Element{assertion}
	for _, s := range p.steps {
		var next []*etree.Element
		seen := map[*etree.Element]bool{}
		for _, el := range at {
			for _, hit := range s.below(el) {
				if !seen[hit] {
					seen[hit] = true
					next = append(next, hit)
				}
			}
		}
		at = next
	}
	if len(at) != 1 {
		return "", fmt.Errorf("find address: %d elements are at the path, not one", len(at))
	}
	var text strings.Builder
	for _, token := range at[0].Child {
		c, ok := token.(*etree.CharData)
		if !ok {
			return "", errors.New("find address: the element at the path holds more than text")
		}
		text.WriteString(c.Data)
	}
	if out := strings.TrimSpace(text.String()); out != "" {
		return out, nil
	}
	return "", errors.New("find address: the element at the path is empty")
}

func (s step) below(el *etree.Element) (out []*etree.Element) {
	for _, child := range el.ChildElements() {
		if child.Tag == s.name && (s.attr == "" || child.SelectAttrValue(s.attr, "") == s.value &&
			child.SelectAttr(s.attr) != nil) {
			out = append(out, child)
		}
		if s.deep {
			out = append(out, s.below(child)...)
		}
	}
	return out
}
