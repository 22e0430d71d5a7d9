// Package masks writes black-and-white pictures as PNG files, several at a time: 8-bit gray, 255
// where something moves. It takes what a replay.Watch finds in each picture of a recording, for
// tools that compare such masks with hand-made ones:
//
//	s, err := masks.New("out")
//	s.Put("bin000001.png", mask, 640, 360)
//	err = s.Close()
package masks

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// Name is the file name of a picture's mask: "bin" as the tools of public change-detection data
// sets expect it, and the digits of the image's own name, or the picture's number from 0 where it
// has none.
func Name(digits string, number int) string {
	if digits == "" {
		digits = fmt.Sprintf("%06d", number)
	}
	return "bin" + digits + ".png"
}

// Set is a folder of masks that are being written. It is used by one goroutine; New starts its
// writers, and Close ends them.
type Set struct {
	Before int // masks that were in the folder when it was opened

	dir  string
	jobs chan *job
	wait sync.WaitGroup
	last *job // the newest: what looks the same is written again, without coding

	mu  sync.Mutex
	err error // the first; guarded by mu
}

// job is one picture to code, and the names under which it is written.
type job struct {
	name          string
	pix           []byte
	width, height int
	like          *job          // the same picture, coded before
	coded         []byte        // set before done is closed
	done          chan struct{} // closed when coded is there
}

// New makes the folder if it is not there. Files of the same names are replaced; others stay, also
// masks of another recording, which Before counts.
func New(dir string) (*Set, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of masks: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look into the folder of masks: %w", err)
	}
	n := runtime.GOMAXPROCS(0)
	s := &Set{dir: dir, Before: before(entries), jobs: make(chan *job, 2*n)}
	for range n {
		s.wait.Go(s.work)
	}
	return s, nil
}

// before counts masks.
func before(entries []os.DirEntry) (n int) {
	for _, e := range entries {
		if ok, _ := filepath.Match("bin*.png", e.Name()); ok {
			n++
		}
	}
	return n
}

// Put writes a mask of width x height bytes, which may be used again afterwards. It waits while all
// writers are busy, and returns an error as soon as one of them had one; Close then returns the
// same.
func (s *Set) Put(name string, mask []byte, width, height int) error {
	j := &job{name: name, width: width, height: height, done: make(chan struct{})}
	if p := s.last; p != nil && p.width == width && p.height == height && bytes.Equal(p.pix, mask) {
		if p.like != nil {
			p = p.like
		}
		j.like, j.pix = p, p.pix
	} else {
		j.pix = append([]byte(nil), mask...)
		s.last = j
	}
	s.jobs <- j
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close waits until all is written.
func (s *Set) Close() error {
	close(s.jobs)
	s.wait.Wait()
	return s.err
}

func (s *Set) work() {
	var enc encoder
	for j := range s.jobs {
		err := s.write(&enc, j)
		if err != nil {
			s.mu.Lock()
			if s.err == nil {
				s.err = fmt.Errorf("write mask: %w", err)
			}
			s.mu.Unlock()
		}
	}
}

func (s *Set) write(enc *encoder, j *job) error {
	path := filepath.Join(s.dir, j.name)
	if j.like != nil {
		<-j.like.done // taken from the queue before this one, so that some writer is at it
		return save(path, j.like.coded)
	}
	defer close(j.done)
	var err error
	if j.coded, err = enc.encode(j.pix, j.width, j.height); err != nil {
		return err
	}
	return save(path, j.coded)
}

// save writes a file, and leaves no part of one when the disk is full.
func save(path string, coded []byte) error {
	err := os.WriteFile(path, coded, 0o644)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		_ = os.Remove(path)
	}
	return err
}
