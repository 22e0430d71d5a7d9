package discover

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds a name that a camera tells, in runes.
const maxText = 128

// decodeXML reads one document. encoding/xml knows neither external entities nor ones of the
// document's own, so there is nothing to expand; a document type is refused all the same.
func decodeXML(doc []byte, into any) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "utf-8", "us-ascii":
			return in, nil
		case "iso-8859-1", "latin1", "windows-1252":
			return &latin{in: in}, nil
		}
		return nil, errors.New("the answer is in another character set than UTF-8")
	}
	if bytes.Contains(doc, []byte("<!DOCTYPE")) {
		return errors.New("the answer has a document type")
	}
	return d.Decode(into)
}

// latin reads ISO 8859-1, in which each byte is the character of its number.
type latin struct {
	in   io.Reader
	rest []byte
}

// Read gives it as UTF-8.
func (l *latin) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		raw := make([]byte, 4096)
		n, err := l.in.Read(raw)
		for _, b := range raw[:n] {
			l.rest = utf8.AppendRune(l.rest, rune(b))
		}
		if n == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
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
