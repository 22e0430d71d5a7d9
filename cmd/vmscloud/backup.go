package main

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

// A backup is the service's files in one, written while they are in use. It is a tar archive: each
// file as the program has it, and at the end "SHA256SUMS", without which it is not whole.

// backupPart is a file of the service. begin starts a read transaction, which writeBackup ends.
type backupPart struct {
	name  string
	begin func() (*bolt.Tx, error)
}

// sums is the name of the last entry.
const sums = "SHA256SUMS"

// writeBackup writes a backup. All transactions begin, in the order of the parts, before anything
// is copied, so that the states fit together: put first what refers to the others.
func writeBackup(w io.Writer, parts []backupPart) (err error) {
	txs := make([]*bolt.Tx, 0, len(parts))
	defer func() {
		for _, tx := range txs {
			_ = tx.Rollback()
		}
	}()
	for _, p := range parts {
		tx, err := p.begin()
		if err != nil {
			return fmt.Errorf("back up %s: %w", p.name, err)
		}
		txs = append(txs, tx)
	}
	now := time.Now()
	tw := tar.NewWriter(w)
	var list strings.Builder
	for i, p := range parts {
		if err := tw.WriteHeader(&tar.Header{Name: p.name, Mode: 0o600, Size: txs[i].Size(),
			ModTime: now}); err != nil {
			return fmt.Errorf("back up %s: %w", p.name, err)
		}
		sum := sha256.New()
		if _, err := txs[i].WriteTo(io.MultiWriter(tw, sum)); err != nil {
			return fmt.Errorf("back up %s: %w", p.name, err)
		}
		fmt.Fprintf(&list, "%x  %s\n", sum.Sum(nil), p.name)
	}
	if err := tw.WriteHeader(&tar.Header{Name: sums, Mode: 0o600, Size: int64(list.Len()), ModTime: now}); err != nil {
		return fmt.Errorf("end the backup: %w", err)
	}
	_, err = io.WriteString(tw, list.String())
	return errors.Join(err, tw.Close())
}

// backupEntry is a file within a backup.
type backupEntry struct {
	name   string
	offset int64
	size   int64
	time   time.Time
	sum    string
}

// reader is that file alone.
func (e backupEntry) reader(r io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(r, e.offset, e.size)
}

// errBroken is wrapped by the errors of a file that is no backup, or not a whole one.
var errBroken = errors.New("it is not a whole backup")

// readBackup reads all of a backup of size bytes, and compares its checksums. Nothing but files of
// the given names may be in it.
func readBackup(r io.ReaderAt, size int64, names ...string) ([]backupEntry, error) {
	at := &counter{r: io.NewSectionReader(r, 0, size)}
	tr := tar.NewReader(at)
	var list []backupEntry
	said := ""
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
		if h.Name == sums {
			b, err := io.ReadAll(io.LimitReader(tr, 4096))
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errBroken, err)
			}
			said = string(b)
			continue
		}
		e := backupEntry{name: h.Name, offset: at.n, size: h.Size, time: h.ModTime}
		sum := sha256.New()
		if _, err := io.Copy(sum, tr); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errBroken, h.Name, err)
		}
		e.sum = fmt.Sprintf("%x  %s\n", sum.Sum(nil), h.Name)
		list = append(list, e)
	}
	want := ""
	for i, e := range list {
		if i >= len(names) || e.name != names[i] {
			return nil, fmt.Errorf("%w: it holds a file %q", errBroken, e.name)
		}
		want += e.sum
	}
	if len(list) != len(names) || said != want {
		return nil, fmt.Errorf("%w: it is cut off, or its checksums differ", errBroken)
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
