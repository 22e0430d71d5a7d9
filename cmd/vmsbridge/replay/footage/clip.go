package footage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/planar"
)

// clip is a file that an ffmpeg process decodes. The process writes two streams: the luma planes as
// YUV4MPEG2, which says their size and depth, and for each of them a line with its time (framecrc),
// made of a picture of one pixel.
type clip struct {
	path   string
	stream stream
	cmd    *exec.Cmd
	stop   context.CancelFunc
	said   tail
	clock  clock
	full   bool

	ahead  chan plane    // pictures read in advance
	free   chan []byte   // their buffers
	failed error         // why ahead was closed; io.EOF at the end; set before
	times  stamps        // of the pictures, from the other pipe
	done   chan struct{} // closed when the process has ended and both pipes were read
	ended  error         // of the process; set before

	held []byte // of the picture that the caller has
	n    int
}

// readAhead is how many pictures are read in advance: decoding goes on while one is looked at.
const readAhead = 3

// plane is one picture's luma.
type plane struct {
	pix  []byte
	form form
}

func openClip(ctx context.Context, path string, o Options) (*Footage, error) {
	s, err := probe(ctx, path)
	if err != nil {
		return nil, err
	}
	info := Info{Pictures: s.pictures, Length: s.length, Rate: s.rate, Timed: s.timed()}
	if !info.Timed {
		if o.Rate > 0 {
			info.Rate = o.Rate
		} else if info.Rate == 0 {
			info.Rate = DefaultRate
		}
		info.Length = 0 // a guess from the bit rate
	}
	c := &clip{path: path, stream: s, clock: clock{step: Interval(DefaultRate)}, ahead: make(chan plane, readAhead),
		free: make(chan []byte, readAhead+2), done: make(chan struct{})}
	if info.Rate > 0 {
		c.clock.step = Interval(info.Rate)
	}
	c.times.more.L = &c.times.mu
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	return &Footage{Info: info, from: c}, nil
}

// start starts the process and its readers.
func (c *clip) start(ctx context.Context) error {
	ctx, c.stop = context.WithCancel(ctx)
	filters, full := c.stream.luma()
	c.full = full
	// Every picture as it comes: none doubled or dropped for an even rate.
	passthrough := []string{"-fps_mode", "passthrough"}
	if old(ctx) {
		passthrough = []string{"-vsync", "passthrough"}
	}
	micros := slices.Concat(passthrough, []string{"-enc_time_base", "1:1000000", "-flush_packets", "1"})
	args := slices.Concat([]string{"-hide_banner", "-nostdin", "-v", "error"}, protocols)
	if c.stream.codec == "h264" {
		args = append(args, "-skip_loop_filter", "all") // as the bridge's decoders do
	}
	if c.stream.format == "jpeg_pipe" {
		args = append(args, "-f", "mjpeg") // ffmpeg's guess wavers between the two
	}
	args = slices.Concat(args, []string{"-i", "file:" + c.path,
		"-filter_complex", "[0:V:0]" + filters + ",split[luma][b];[b]crop=1:1:0:0:exact=1[times]", "-map", "[luma]"},
		micros,
		[]string{"-strict", "-1", "-f", "yuv4mpegpipe", "pipe:1", "-map", "[times]"}, micros,
		[]string{"-f", "framecrc", "pipe:3"})
	c.cmd = exec.CommandContext(ctx, "ffmpeg", args...)
	c.cmd.Stderr = &c.said
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us: we end it
	c.cmd.WaitDelay = 5 * time.Second
	luma, lumaEnd, err := os.Pipe()
	if err != nil {
		c.stop()
		return fmt.Errorf("open %s: make a pipe: %w", c.path, err)
	}
	times, timesEnd, err := os.Pipe()
	if err != nil {
		c.stop()
		_, _ = luma.Close(), lumaEnd.Close()
		return fmt.Errorf("open %s: make a pipe: %w", c.path, err)
	}
	// fewer changes between the processes; the usual size does too
	_, _ = unix.FcntlInt(luma.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	c.cmd.Stdout, c.cmd.ExtraFiles = lumaEnd, []*os.File{timesEnd}
	err = c.cmd.Start()
	_, _ = lumaEnd.Close(), timesEnd.Close()
	if err != nil {
		c.stop()
		_, _ = luma.Close(), times.Close()
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("open %s: %w", c.path, ErrNoFFmpeg)
		}
		return fmt.Errorf("open %s: start ffmpeg: %w", c.path, err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { c.times.read(times); _ = times.Close() })
	readers.Go(func() { c.failed = c.read(ctx, luma); _ = luma.Close(); close(c.ahead) })
	go func() { // ends with the process, for which Close waits
		c.ended = c.cmd.Wait()
		readers.Wait()
		close(c.done)
	}()
	return nil
}

// old tells whether the installed ffmpeg comes before 5.1, which has -fps_mode instead of -vsync.
func old(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "ffmpeg", "-version").Output()
	if err != nil {
		return false
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return false
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(fields[2], "n"), ".")
	m, err := strconv.Atoi(major)
	if err != nil {
		return false // built from a newer state
	}
	return m < 5 || m == 5 && strings.HasPrefix(rest, "0")
}

// Next is the next picture.
func (c *clip) Next() (Picture, error) {
	if c.held != nil {
		c.free <- c.held // has room for all that exist
		c.held = nil
	}
	p, ok := <-c.ahead
	if !ok {
		return Picture{}, c.end()
	}
	c.held = p.pix
	t := time.Duration(c.n) * c.clock.step
	if c.stream.timed() {
		micros, ok := c.times.next()
		if !ok {
			return Picture{}, c.end()
		}
		t = time.Duration(micros) * time.Microsecond
	}
	out := Picture{Number: c.n, At: c.clock.at(t)}
	out.Image = planar.Image{Width: p.form.width, Height: p.form.height, FullRange: c.full,
		Y: planar.Plane{Pix: p.pix, Stride: p.form.width * p.form.sampleBytes(), Width: p.form.width,
			Height: p.form.height, Bits: p.form.bits}}
	c.n++
	return out, nil
}

// end says how the clip ended: io.EOF, or why too early.
func (c *clip) end() error {
	<-c.done
	switch {
	case c.n == 1 && (c.stream.images() || c.stream.format == "mjpeg"):
		return fmt.Errorf("open %s: %w", c.path, ErrSingle)
	case c.ended == nil && errors.Is(c.failed, io.EOF) && c.n > 0 && !cutOff(c.said.String()) && !c.short():
		return io.EOF
	case c.n == 0 && !errors.Is(c.failed, io.EOF):
		return fmt.Errorf("open %s: %w", c.path, c.failed)
	case c.n == 0:
		return unreadable(c.path, cmpText(c.said.String(), "there is no picture in it"))
	default:
		return fmt.Errorf("read %s: it ends early, after %d pictures (%s): the file is damaged or cut off there; "+
			"copy it again, or go by what was found up to there", c.path, c.n, lastWords(c.said.String(), c.path))
	}
}

// cutOff tells whether ffmpeg noticed that a file ends within something, which it does not count as
// a failure.
func cutOff(said string) bool {
	return strings.Contains(said, "partial file") || strings.Contains(said, "ended prematurely") ||
		strings.Contains(said, "runcat")
}

// short tells of a clip in which something is damaged whether more than a tenth of the pictures
// that its header names are missing.
func (c *clip) short() bool {
	return c.said.String() != "" && 10*c.n < 9*c.stream.pictures
}

// Complaint is what ffmpeg said of a file that it read to its end.
func (c *clip) Complaint() string {
	select {
	case <-c.done:
	default:
		return ""
	}
	if text := c.said.String(); text != "" && c.n > 0 {
		return fmt.Sprintf("parts of %s are damaged: %s", c.path, lastWords(text, c.path))
	}
	return ""
}

// Close ends the process and waits for it.
func (c *clip) Close() {
	c.stop()
	for range c.ahead {
	}
	<-c.done
}

// tail keeps the last of what a process says. Safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte // guarded by mu
}

const tailBytes = 4096

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
