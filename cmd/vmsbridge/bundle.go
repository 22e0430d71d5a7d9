package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// leastSecret is how long a secret must be to be looked for: shorter ones stand by chance in any
// text, and would make it unreadable.
const leastSecret = 4

// bundle is text for support in one file: a tar.gz in which no known secret stands. It is for one
// goroutine.
type bundle struct {
	gz      *gzip.Writer
	tar     *tar.Writer
	folder  string
	at      time.Time
	secrets [][]byte // the longest first
}

// newBundle begins one whose files lie in a folder. Of what is added, every occurrence of a
// secret, as it is and as it stands in addresses and headers, is replaced by ***; that is the
// second lock on the door, since what is added should hold none.
func newBundle(w io.Writer, folder string, at time.Time, secrets []string) *bundle {
	b := &bundle{gz: gzip.NewWriter(w), folder: folder, at: at}
	b.tar = tar.NewWriter(b.gz)
	for _, s := range secrets {
		if len(s) < leastSecret {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s),
			base64.StdEncoding.EncodeToString([]byte(s)), fmt.Sprintf("%q", s)[1:]} {
			b.secrets = append(b.secrets, []byte(strings.TrimSuffix(form, `"`)))
		}
	}
	slices.SortFunc(b.secrets, func(x, y []byte) int { return len(y) - len(x) })
	return b
}

// Add adds one file of text.
func (b *bundle) Add(name string, content []byte) error {
	for _, s := range b.secrets {
		content = bytes.ReplaceAll(content, s, []byte("***"))
	}
	err := b.tar.WriteHeader(&tar.Header{Name: path.Join(b.folder, name), Mode: 0o600, Size: int64(len(content)),
		ModTime: b.at, Format: tar.FormatPAX})
	if err == nil {
		_, err = b.tar.Write(content)
	}
	if err != nil {
		return fmt.Errorf("add %s to the bundle: %w", name, err)
	}
	return nil
}

// Close ends the bundle. It does not close what it was written to.
func (b *bundle) Close() error {
	if err := errors.Join(b.tar.Close(), b.gz.Close()); err != nil {
		return fmt.Errorf("end the bundle: %w", err)
	}
	return nil
}
