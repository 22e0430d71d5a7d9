package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// keptLines is how much of a child's output is kept to tell why it ended.
const keptLines = 12

// child is a program that the demo runs beside itself. It has a process group of its own, so that
// Ctrl-C reaches the demo alone, which then ends the children in order; and it gets SIGTERM if the
// demo dies without doing that.
type child struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and its output was read

	mu    sync.Mutex // guards what follows
	lines []string   // the last of its output
	err   error      // of Wait, set before done is closed
}

// start runs a program. Each line that it prints on standard output is given to stdout (nil:
// nobody), one after another; both outputs are kept for the report of a death.
func startChild(name string, stdout func(line string), path string, args ...string) (*child, error) {
	c := &child{name: name, cmd: exec.Command(path, args...), done: make(chan struct{})}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	out, outEnd := io.Pipe()
	errs, errsEnd := io.Pipe()
	c.cmd.Stdout, c.cmd.Stderr = outEnd, errsEnd
	started := make(chan error, 1)
	go func() {
		// The kernel sends Pdeathsig when the thread that started the child ends, so this one must
		// last as long. It must not end at all: purego up to v0.10.2 hands a broken frame pointer
		// back to libc when a thread ends on arm64 without cgo.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err != nil {
			_ = outEnd.Close()
			_ = errsEnd.Close()
			return
		}
		var readers sync.WaitGroup
		readers.Go(func() { c.read(out, stdout) })
		readers.Go(func() { c.read(errs, nil) })
		err = c.cmd.Wait()
		_ = outEnd.Close()
		_ = errsEnd.Close()
		readers.Wait()
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// read keeps the last lines. A line that is longer than the scanner takes ends the keeping, never
// the child: the rest is read and dropped.
func (c *child) read(r io.Reader, each func(string)) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		c.mu.Lock()
		if c.lines = append(c.lines, s.Text()); len(c.lines) > keptLines {
			c.lines = slices.Delete(c.lines, 0, 1)
		}
		c.mu.Unlock()
		if each != nil {
			each(s.Text())
		}
	}
	_, _ = io.Copy(io.Discard, r)
}

// stop ends the child in order, and by force when that takes too long.
func (c *child) stop(within time.Duration) {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-c.done:
	case <-t.C:
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // with what it started itself
		<-c.done
	}
}

// died is the report of a child that ended by itself.
func (c *child) died() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	how := "ended by itself"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("%s: %s; its last words: %s", c.name, how, strings.Join(c.lines, " | "))
}

// output runs a program to its end and returns what it printed, without the space around it.
func output(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(path), args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
