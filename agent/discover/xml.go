package discover

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode"
)

// maxText bounds a name that a camera tells, in runes.
const maxText = 128

// decodeXML reads one document. encoding/xml knows neither external entities nor ones of the document's own, so there is
// nothing to expand; a document type is refused all the same.
func decodeXML(doc []byte, into any) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "us-ascii") {
			return in, nil
		}
		return nil, errors.New("the answer is in another character set than UTF-8")
	}
	if bytes.Contains(doc, []byte("<!DOCTYPE")) {
		return errors.New("the answer has a document type")
	}
	return d.Decode(into)
}

// plain makes a camera's text fit for a terminal and a file: one line, printable, bounded.
func plain(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)), " ")
	if runes := []rune(s); len(runes) > maxText {
		s = string(runes[:maxText])
	}
	return s
}

// escape makes text fit for a place inside XML.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
