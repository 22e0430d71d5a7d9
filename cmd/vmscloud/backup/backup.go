// Package backup writes the service's files into one, while they are in use, and brings them back.
// The file is a tar archive: each file as its program has it, and at the end "SHA256SUMS", without
// which it is not whole.
//
//	err := backup.Write(w, []backup.Part{{Name: "events.db", Begin: journal.Begin}, …})
//	names, err := backup.Verify(f, check)
//	err = backup.Restore(f, dir)
package backup

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Part is a file of the service. Begin starts a read transaction, which Write ends.
type Part struct {
	Name  string
	Begin func() (*bolt.Tx, error)
}

// sums is the name of the last entry.
const sums = "SHA256SUMS"

// Write writes a backup. All transactions begin, in the order of the parts, before anything is
// copied, so that the states fit together: put first what refers to the others.
func Write(w io.Writer, parts []Part) (err error) {
	txs := make([]*bolt.Tx, 0, len(parts))
	defer func() {
		for _, tx := range txs {
			_ = tx.Rollback()
		}
	}()
	for _, p := range parts {
		tx, err := p.Begin()
		if err != nil {
			return fmt.Errorf("back up %s: %w", p.Name, err)
		}
		txs = append(txs, tx)
	}
	now := time.Now()
	tw := tar.NewWriter(w)
	var list strings.Builder
	for i, p := range parts {
		if err := tw.WriteHeader(&tar.Header{Name: p.Name, Mode: 0o600, Size: txs[i].Size(),
			ModTime: now}); err != nil {
			return fmt.Errorf("back up %s: %w", p.Name, err)
		}
		sum := sha256.New()
		if _, err := txs[i].WriteTo(io.MultiWriter(tw, sum)); err != nil {
			return fmt.Errorf("back up %s: %w", p.Name, err)
		}
		fmt.Fprintf(&list, "%x  %s\n", sum.Sum(nil), p.Name)
	}
	if err := tw.WriteHeader(&tar.Header{Name: sums, Mode: 0o600, Size: int64(list.Len()), ModTime: now}); err != nil {
		return fmt.Errorf("end the backup: %w", err)
	}
	_, err = io.WriteString(tw, list.String())
	return errors.Join(err, tw.Close())
}

// Entry is a file within a backup.
type Entry struct {
	Name   string
	Offset int64
	Size   int64
	Time   time.Time
	sum    string
}

// Reader is that file alone.
func (e Entry) Reader(r io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(r, e.Offset, e.Size)
}

// ErrBroken is wrapped by the errors of a file that is no backup, or not a whole one.
var ErrBroken = errors.New("it is not a whole backup")

// Verify reads all of a backup of size bytes, and compares its checksums. Nothing but files of the
// given names may be in it.
func Verify(r io.ReaderAt, size int64, names ...string) ([]Entry, error) {
	at := &counter{r: io.NewSectionReader(r, 0, size)}
	tr := tar.NewReader(at)
	var list []Entry
	said := ""
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if h.Name == sums {
			b, err := io.ReadAll(io.LimitReader(tr, 4096))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrBroken, err)
			}
			said = string(b)
			continue
		}
		e := Entry{Name: h.Name, Offset: at.n, Size: h.Size, Time: h.ModTime}
		sum := sha256.New()
		if _, err := io.Copy(sum, tr); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrBroken, h.Name, err)
		}
		e.sum = fmt.Sprintf("%x  %s\n", sum.Sum(nil), h.Name)
		list = append(list, e)
	}
	want := ""
	for i, e := range list {
		if i >= len(names) || e.Name != names[i] {
			return nil, fmt.Errorf("%w: it holds a file %q", ErrBroken, e.Name)
		}
		want += e.sum
	}
	if len(list) != len(names) || said != want {
		return nil, fmt.Errorf("%w: it is cut off, or its checksums differ", ErrBroken)
	}
	return list, nil
}

// counter tells how far a reader is.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
