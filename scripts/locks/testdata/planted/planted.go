// Package planted holds locks across what may block, in every way that is to be found, and in some
// that are not wrong.
package planted

import (
	"os"
	"sync"
	"time"
)

type store struct {
	mu    sync.RWMutex
	other sync.Mutex
	file  *os.File
	told  func()
	disk  disk
	c     chan int
	n     int
}

type disk interface{ Flush(string) error }

type slow struct{ f *os.File }

func (s slow) Flush(string) error { return s.f.Sync() }

// stranger has a method of that name with other parameters: no disk.
type stranger struct{}

func (stranger) Flush() { time.Sleep(time.Second) }

func (s *store) deferred() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Sync() // found
}

func (s *store) deep() {
	s.mu.RLock()
	s.middle() // found
	s.mu.RUnlock()
}

func (s *store) middle() { s.bottom() }
func (s *store) bottom() { _ = os.Remove("x") }

func (s *store) through() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disk.Flush("") // found
}

// stamp is how all cameras were once blinded.
func (s *store) stamp(store func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return store() // found
}

func (s *store) callback() {
	s.mu.Lock()
	s.told() // found
	s.mu.Unlock()
}

func (s *store) channel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c <- 1 // found
	select { // found
	case s.c <- 1:
	case <-s.c:
	}
	select {
	case s.c <- 1:
	default:
	}
}

func (s *store) branch(b bool) {
	s.mu.Lock()
	if b {
		s.mu.Unlock()
		_ = s.file.Sync()
		return
	}
	if s.n > 0 {
		time.Sleep(time.Second) // found
	}
	s.mu.Unlock()
	_ = s.file.Sync()
}

func (s *store) loop() {
	for range 3 {
		s.other.Lock()
		s.n++
		s.other.Unlock()
		_ = s.file.Sync()
	}
}

func (s *store) handedIn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	run(func() { _ = s.file.Sync() }) // found
	go func() { _ = s.file.Sync() }()
}

func run(f func()) { f() }

func (s *store) held() { s.mu.Lock() }

// release lets go of what another function took.
func (s *store) release() {
	_ = s.file.Sync() // found
	s.mu.Unlock()
}

func (s *store) fine() {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	s.bottom()
}
