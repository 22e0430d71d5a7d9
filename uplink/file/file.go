// Package file writes events to a file or a named pipe, one line of JSON an event, as the service
// gets it: for a collector of logs, or a program beside the bridge. It is a sink (uplink/delivery)
// with a cursor of its own, and the example of one: CONTRIBUTING says what else a new sink needs.
//
// A file is created where there is none, appended to, and flushed to the device before its events
// count as handed over. One that was moved away by a rotation is noticed before the next event, and
// a new one is made. A line that was cut off by a power cut is ended, and its event written again.
// A pipe is not made; while nobody reads it, events wait.
package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

const (
	// batch is how many events are written, and flushed, at once.
	batch = 256
	// patience is how long a pipe may be full.
	patience = 5 * time.Second
	// maxPause is the longest wait for a reader, or for room: to look is cheap.
	maxPause = 5 * time.Second
)

// Options of New. Path and Feed are needed.
type Options struct {
	// Path is that of a file or of a named pipe.
	Path       string
	Feed       delivery.Feed
	Caps       delivery.Caps
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// File is a file that gets the events. Make it with New; Run may be called once.
type File struct {
	*delivery.Follower
	path     string
	patience time.Duration

	// What follows belongs to Send, of which one call is under way at a time.
	to   *os.File // nil: it is not open
	pipe bool
	rest []byte // of a line that the pipe has got a part of
}

// New makes a File. It opens nothing.
func New(o Options) (*File, error) {
	if o.Path == "" || o.Feed == nil {
		return nil, errors.New("make a file of events: Path and Feed are needed")
	}
	f := &File{path: o.Path, patience: patience}
	f.Follower = delivery.Follow(f, delivery.FollowOptions{
		Kind: "file", Name: filepath.Base(o.Path), Feed: o.Feed, Caps: o.Caps,
		Wants: func(q vms.Queued) bool { return q.Newest }, OneLane: true, Log: o.Log, Registerer: o.Registerer,
		Engine: delivery.Options{Concurrency: 1, AtOnce: func() int { return batch }, MaxPause: maxPause}})
	return f, nil
}

// Run writes events until ctx is done, then what is left for a moment. It returns nil.
func (f *File) Run(ctx context.Context) error {
	defer f.close()
	return f.Follower.Run(ctx)
}

// Send is for delivery.Sink.
func (f *File) Send(_ context.Context, list []vms.Queued) []delivery.Verdict {
	var lines []byte
	ends := make([]int, len(list))                  // of each event's line
	verdicts := make([]delivery.Verdict, len(list)) // Taken
	for i, q := range list {
		line, err := json.Marshal(q.Event)
		if err != nil {
			verdicts[i] = delivery.Verdict{Kind: delivery.Refused, Err: err}
		} else {
			lines = append(append(lines, line...), '\n')
		}
		ends[i] = len(lines)
	}
	n, err := f.write(lines)
	if err == nil {
		return verdicts
	}
	i := 0
	for i < len(list)-1 && ends[i] <= n {
		i++
	}
	return append(verdicts[:i], delivery.Verdict{Kind: delivery.OfSink, Err: err, Hint: f.hint(err)})
}

// write says how many bytes of the lines are where they should be.
func (f *File) write(lines []byte) (n int, err error) {
	if err := f.open(); err != nil {
		return 0, err
	}
	if f.pipe {
		return f.writePipe(lines)
	}
	size, err := f.to.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.to.Write(lines)
	}
	if err == nil {
		err = f.to.Sync()
	}
	if err != nil {
		_ = f.to.Truncate(size) // no half a line, if that can be helped; the events come again
		f.close()
		return 0, err
	}
	return len(lines), nil
}

// writePipe writes to whoever reads. A line of which a full pipe has got a part is completed first
// when there is room again, and comes once more.
func (f *File) writePipe(lines []byte) (n int, err error) {
	if err := f.to.SetWriteDeadline(time.Now().Add(f.patience)); err != nil {
		return 0, err
	}
	before := len(f.rest)
	all := append(f.rest, lines...)
	n, err = f.to.Write(all)
	switch {
	case err == nil, n == before, n > before && all[n-1] == '\n':
		f.rest = nil
	case n < before:
		f.rest = f.rest[n:]
	default:
		f.rest = all[n : n+bytes.IndexByte(all[n:], '\n')+1]
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		f.close()
	}
	return max(0, n-before), err
}

// open opens the file or pipe if it is not, or is not what the path names any more.
func (f *File) open() error {
	now, err := os.Stat(f.path)
	if f.to != nil {
		if open, e := f.to.Stat(); err == nil && e == nil && os.SameFile(now, open) {
			return nil
		}
		f.close()
	}
	flags := os.O_RDWR | os.O_APPEND | os.O_CREATE
	if f.pipe = err == nil && now.Mode()&os.ModeNamedPipe != 0; f.pipe {
		flags = os.O_WRONLY | syscall.O_NONBLOCK // else it would wait for a reader
	}
	to, err := os.OpenFile(f.path, flags, 0o640) //nolint:gosec // for a collector of the same group
	if err != nil {
		return err
	}
	if f.to = to; f.pipe {
		return nil
	}
	if err := endLine(to); err != nil {
		f.close()
		return fmt.Errorf("look at the end of %s: %w", f.path, err)
	}
	return nil
}

// endLine ends a line that was cut off.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte{'\n'})
	return err
}

func (f *File) close() {
	if f.to != nil {
		_ = f.to.Close()
		f.to, f.rest = nil, nil
	}
}

// hint says what a person can do about a failure.
func (f *File) hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EPIPE):
		return "nobody reads the pipe " + f.path + "; its events wait: start what reads it"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "the pipe " + f.path + " is full; its events wait: is what reads it stuck?"
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return "the bridge may not write " + f.path + ": let its user write there, and its service's ReadWritePaths="
	case errors.Is(err, os.ErrNotExist):
		return "the folder of " + f.path + " is missing: make it, and let the bridge's user write there"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "there is no room for " + f.path + "; its events wait: free some"
	}
	return "events cannot be written to " + f.path + "; they wait"
}
