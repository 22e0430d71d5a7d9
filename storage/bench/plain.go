package main

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// plainSide writes the same bytes one after the other into a file, and can do nothing else.
type plainSide struct{ *os.File }

func openPlain(dir string) (side, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "plain"))
	return plainSide{f}, err
}

func (p plainSide) Append(_ string, _ time.Time, jpeg []byte) error {
	_, err := p.Write(jpeg)
	return err
}

func (p plainSide) Flush() error { return unix.Fdatasync(int(p.Fd())) }

func (p plainSide) Before(string, time.Time) (time.Time, []byte, error) {
	return time.Time{}, nil, errNone
}

func (p plainSide) Prune(int64) error { return errNone }
