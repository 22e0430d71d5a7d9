package codec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/worker"
	"vmsbridge/agent/rawfd"
)

// process is a running decoder process. goOn, exchange and lately are for one goroutine at a time;
// the rest for any.
type process struct {
	cmd     *exec.Cmd
	started time.Time
	video   bool     // it has looked for libavcodec
	in      *os.File // requests
	out     *os.File // replies
	words   *words
	dead    chan struct{} // closed when it has ended and all that it said was read

	requests io.Writer // in
	replies  io.Reader // out
	shared   []byte    // by the process, which writes replies there; nil: it shares none
	deadline time.Time // of both
	counted  time.Duration
}

// launch starts a process, with libavcodec if it is for video; it is not greeted yet.
func (p *Pool) launch(video bool) (*process, error) {
	if os.Getenv(environment) != "" {
		return nil, errors.New("this is a decoder process itself: codec.RunWorker must be the first statement of " +
			"main and of TestMain")
	}
	p.closeMemory()
	area, shared, err := shareMemory()
	if err != nil {
		p.log.Debug("pictures go through a pipe", "error", err)
	}
	setup, err := json.Marshal(childSetup{LibraryDirs: p.options.LibraryDirs, Video: video,
		PictureBytes: p.pictureBytes, MoreMemory: p.moreMemory(), Decoders: p.options.Decoders, Shared: len(shared)})
	if err != nil {
		return nil, errors.Join(err, unshare(shared))
	}
	var files [7]*os.File // requests, replies, standard error: read and write end; what is shared
	files[6] = area
	closeAll := func() {
		for _, f := range files {
			if f != nil {
				_ = f.Close()
			}
		}
		_ = unshare(shared)
	}
	for i := 0; i < 6; i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("make pipe: %w", err)
		}
	}
	// The link to our own file works even after an upgrade has replaced the file.
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{"vmsbridge-decoder"},
		Env:         childEnvironment(string(setup)),
		Dir:         "/",
		Stderr:      files[5],
		ExtraFiles:  []*os.File{files[0], files[3]},
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true},
	}
	for _, f := range cmd.ExtraFiles {
		// Where nothing is shared, a picture's luma and most access units then cross in one go; the
		// default will do if the kernel refuses.
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, 256<<10)
	}
	if area != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, area)
	}
	if err := p.spawn(cmd); err != nil {
		closeAll()
		return nil, fmt.Errorf("start process: %w", err)
	}
	for _, i := range []int{0, 3, 5} {
		_ = files[i].Close()
	}
	if area != nil {
		_ = area.Close()
	}
	proc := &process{
		cmd: cmd, started: time.Now(), video: video, in: files[1], out: files[2],
		words: newWords(p.log, p.metrics, cmd.Process.Pid), dead: make(chan struct{}),
		requests: rawfd.Writer(files[1]), replies: rawfd.Reader(files[2]), shared: shared,
	}
	p.metrics.started.Inc()
	p.metrics.running.Inc()
	go func() { // ends with the process; whoever ends the process waits for dead
		proc.words.drain(files[4])
		_ = cmd.Wait()
		p.metrics.running.Dec()
		close(proc.dead)
	}()
	p.log.Debug("decoder process started", "pid", proc.pid())
	return proc, nil
}

// greet waits until the process serves; it is ended if it does not.
func (p *process) greet() error {
	reply, err := p.exchange(worker.AppendFrame(nil, worker.Hello, 0), greetTimeout)
	if err == nil {
		err = worker.ParseError(reply)
	}
	if err == nil {
		err = worker.ParseHello(reply.Body)
	}
	if err == nil {
		return nil
	}
	p.end()
	reason, text := p.reason(err)
	return &stillbornError{reason, text, p.lastWords()}
}

// stillbornError is of a process that ended before it served.
type stillbornError struct{ reason, text, words string }

func (e *stillbornError) Error() string {
	if e.reason == reasonKilled {
		return "greet process: it was killed, as the kernel does where memory is short: see dmesg"
	}
	return fmt.Sprintf("greet process: it %s (%s): is codec.RunWorker the first statement of main?", e.text, e.words)
}

// exchange writes a request and reads its reply. After any error the process must be ended: the two
// may be out of step.
func (p *process) exchange(request []byte, timeout time.Duration) (worker.Frame, error) {
	x := &exchange{request: request, until: time.Now().Add(timeout)}
	if err := p.goOn(context.Background(), x); err != nil {
		return worker.Frame{}, err
	}
	return x.frames[0], nil
}

// exchange is requests that are written at once and their replies, as far as they are written and
// read.
type exchange struct {
	request []byte // what is left to write
	reply   []byte // what was read; the room behind it is used, too
	placed  []byte // replies that were placed in shared memory
	until   time.Time
	want    int            // replies; 0: one
	frames  []worker.Frame // the replies, in the end; their bodies are parts of reply or placed
}

// slice is how often a call that takes long looks whether its caller still waits. Deadlines are
// moved as seldom: moving them costs as much as a system call.
const slice = 250 * time.Millisecond

// goOn brings an exchange to its end. errLeft: ctx is done, and goOn has to be called again before
// the next exchange. After any other error the process must be ended: the two may be out of step.
func (p *process) goOn(ctx context.Context, x *exchange) error {
	for {
		if now := time.Now(); p.deadline.Sub(now) < slice {
			p.deadline = now.Add(2 * slice)
			if err := errors.Join(p.in.SetWriteDeadline(p.deadline), p.out.SetReadDeadline(p.deadline)); err != nil {
				return fmt.Errorf("set deadline: %w", err)
			}
		}
		err := p.step(x)
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(x.until):
			return err
		case ctx.Err() != nil:
			return errLeft
		}
	}
}

// leastRoom is for replies whose pictures are in shared memory, as many as come together.
const leastRoom = 512

// step writes and reads until the reply is there, or the deadline.
func (p *process) step(x *exchange) error {
	for len(x.request) > 0 {
		n, err := p.requests.Write(x.request)
		if x.request = x.request[n:]; err != nil {
			return fmt.Errorf("write request: %w", err)
		}
	}
	for {
		size, err := x.parse()
		if err != nil {
			return fmt.Errorf("read reply: %w", err)
		}
		switch {
		case len(x.reply) == size:
			return p.take(x)
		case len(x.reply) > size:
			return fmt.Errorf("read reply: %d bytes more than it has: %w", len(x.reply)-size, worker.ErrBroken)
		case cap(x.reply) < size:
			x.reply = append(make([]byte, 0, max(size, leastRoom)), x.reply...)
		}
		n, err := p.replies.Read(x.reply[len(x.reply):cap(x.reply)])
		x.reply = x.reply[:len(x.reply)+n]
		switch {
		case errors.Is(err, io.EOF) && len(x.reply) > 0:
			return fmt.Errorf("read reply: %w: %w", worker.ErrBroken, io.ErrUnexpectedEOF)
		case err != nil:
			return fmt.Errorf("read reply: %w", err)
		}
	}
}

// take copies what the process has placed in shared memory.
func (p *process) take(x *exchange) (err error) {
	for i, f := range x.frames {
		if x.frames[i], x.placed, err = worker.Place(f, p.shared, x.placed); err != nil {
			return fmt.Errorf("read reply: %w", err)
		}
	}
	return nil
}

// parse finds the replies in what was read. size is how many bytes must be read before more is
// known of them: as many as were, once they are whole.
func (x *exchange) parse() (size int, err error) {
	x.frames = x.frames[:0]
	for len(x.frames) < max(x.want, 1) {
		f, n, err := worker.ParseFrame(x.reply[size:], worker.MaxReply)
		if err != nil {
			return 0, err
		}
		if size += n; size > len(x.reply) {
			return size, nil
		}
		x.frames = append(x.frames, f)
	}
	return size, nil
}

// spent is the time of processors that the process has used, the same whatever else the machine
// does, also once it has ended: one that was stopped has used none while others waited for it.
func (p *process) spent() time.Duration {
	var t unix.Timespec
	clock := int32(^p.pid()<<3 | 2) // of all threads of a process: see clock_getcpuclockid(3)
	// It does not wait, and so need not be told to the scheduler: see package rawfd.
	_, _, code := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0)
	if code == 0 {
		return time.Duration(t.Nano())
	}
	<-p.dead
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// lately is what was spent since it was asked last.
func (p *process) lately() time.Duration {
	before := p.counted
	p.counted = p.spent()
	return p.counted - before
}

// isDead says whether it has ended and all that it said was read.
func (p *process) isDead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// yieldBy is how nice a process is that one camera has for itself: others get nine tenths of a
// processor that it shares with them. Nobody takes it back: a camera that goes back joins another
// process.
const yieldBy = 10

func (p *process) yield() { _ = unix.Setpriority(unix.PRIO_PGRP, p.pid(), yieldBy) }

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end kills the process, waits for it, closes the pipes and gives the shared memory back. It is for
// whoever may call goOn.
func (p *process) end() {
	p.kill()
	<-p.dead
	_, _ = p.in.Close(), p.out.Close()
	_ = unshare(p.shared)
	p.shared = nil
}

// The reasons of deaths, as the metric has them.
const (
	reasonHang      = "hang"      // no reply in time
	reasonProtocol  = "protocol"  // a reply that made no sense
	reasonKilled    = "killed"    // SIGKILL, by the kernel short of memory or by someone else
	reasonForbidden = "forbidden" // a system call that only somebody does who has taken it over
	reasonCrash     = "crash"     // any other signal, or an exit by itself
	reasonStart     = "start"     // it did not come to life
)

// reason says why the process ended, given what the last exchange said. It has ended.
func (p *process) reason(err error) (reason, text string) {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reasonHang, "did not answer in time"
	case errors.Is(err, worker.ErrBroken) && !errors.Is(err, syscall.EPIPE) && !isEOF(err):
		return reasonProtocol, "answered nonsense: " + err.Error()
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		switch status.Signal() {
		case syscall.SIGKILL:
			return reasonKilled, "was killed"
		case syscall.SIGSYS:
			return reasonForbidden, "was ended for a system call that no decoder needs: the stream may be an attack"
		}
	}
	return reasonCrash, "crashed (" + p.cmd.ProcessState.String() + ")"
}

// spawn starts cmd on the one thread that lives as long as the pool: the kernel sends Pdeathsig
// when the thread that started the process ends, not the program.
func (p *Pool) spawn(cmd *exec.Cmd) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return ErrClosed
	}
	if p.spawner == nil {
		p.spawner = make(chan spawn)
		go runSpawner(p.spawner) // Close ends it
	}
	spawner := p.spawner
	p.mu.Unlock()
	done := make(chan error)
	spawner <- spawn{cmd, done}
	return <-done
}

func runSpawner(requests <-chan spawn) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for r := range requests {
		if r.cmd == nil {
			r.done <- nil
			return
		}
		r.done <- r.cmd.Start()
	}
}
