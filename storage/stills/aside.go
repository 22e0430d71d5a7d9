package stills

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// aside moves a file of the ring's folder out of the way, under its name, or one like it.
func (m *mender) aside(name string) error {
	to, err := m.free(name)
	if err != nil {
		return err
	}
	if err := m.fs.Rename(filepath.Join(m.dir, name), to); err != nil {
		return err
	}
	return m.fs.SyncDir(filepath.Dir(to))
}

// free is a path in the folder aside where nothing is.
func (m *mender) free(name string) (string, error) {
	dir := filepath.Join(m.dir, asides)
	if err := m.fs.MakeDir(dir); err != nil {
		return "", err
	}
	list, err := m.fs.List(dir)
	if err != nil {
		return "", err
	}
	to := name
	for n := 2; slices.ContainsFunc(list, func(e vfs.Entry) bool { return e.Name == to }); n++ {
		to = name + "." + strconv.Itoa(n)
	}
	return filepath.Join(dir, to), nil
}

// keep copies a stretch of a segment aside, if there is anything in it.
func (m *mender) keep(f io.ReaderAt, b segment.Span, name string) error {
	p := make([]byte, b.To-b.From)
	if _, err := f.ReadAt(p, int64(b.From)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(bytes.Trim(p, "\x00")) == 0 {
		return nil
	}
	to, err := m.free(name)
	if err != nil {
		return err
	}
	out, err := m.fs.Create(to, int64(len(p)))
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := out.WriteAt(p, 0); err != nil {
		return err
	}
	return errors.Join(out.Sync(), m.fs.SyncDir(filepath.Dir(to)))
}
