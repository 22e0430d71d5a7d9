//go:build amd64 || arm64

package witness

import (
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Listen lets the calling thread be watched from now on, and the program that it becomes by
// execve(2), with all threads and children of that. The descriptor goes to the process that is to
// Follow it. The goroutine must be locked to its thread.
func Listen() (listener int, err error) { return install() }

// Follower sees what another process does to the files below a folder.
type Follower struct {
	watch
	done  chan struct{}
	ended sync.WaitGroup
}

// Follow answers for a process that has become watched by Listen, until Close. The folder is empty,
// or not there yet. Calls that several threads make at a time are noted one after the other, each
// before it is done: what has returned is noted.
func Follow(listener int, dir string) (*Follower, error) {
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	f := &Follower{watch: watch{dir: filepath.Join(parent, filepath.Base(dir)), listener: listener},
		done: make(chan struct{})}
	f.ended.Go(func() { f.run(f.done) })
	return f, nil
}

// Len is how many operations were seen so far.
func (f *Follower) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log)
}

// Close ends it, after the process has ended, and returns what was done, and when.
func (f *Follower) Close() ([]Op, []time.Time) {
	close(f.done)
	f.ended.Wait()
	unix.Close(f.listener)
	return f.log, f.at
}
