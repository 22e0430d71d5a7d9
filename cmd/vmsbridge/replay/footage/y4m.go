package footage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"vmsbridge/agent/codec/planar"
)

// form is the shape of the pictures of a YUV4MPEG2 stream without colours.
type form struct{ width, height, bits int }

func (f form) sampleBytes() int { return (f.bits + 7) / 8 }

func (f form) bytes() int { return f.width * f.height * f.sampleBytes() }

// readForm reads the first line of a YUV4MPEG2 stream
// (https://wiki.multimedia.cx/index.php/YUV4MPEG2; "mono" and its depths as ffmpeg writes them):
// "YUV4MPEG2 W640 H360 F10:1 Ip A0:0 Cmono10".
func readForm(r *bufio.Reader) (form, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return form{}, fmt.Errorf("read stream header: %w", err)
	}
	words := strings.Fields(string(line))
	if len(words) == 0 || words[0] != "YUV4MPEG2" {
		return form{}, errors.New("read stream header: it is not YUV4MPEG2")
	}
	f := form{bits: 8}
	for _, w := range words[1:] {
		switch value := w[1:]; w[0] {
		case 'W':
			f.width, _ = strconv.Atoi(value)
		case 'H':
			f.height, _ = strconv.Atoi(value)
		case 'C':
			depth, mono := strings.CutPrefix(value, "mono")
			if !mono {
				return form{}, fmt.Errorf("read stream header: %q is not luma alone", w)
			}
			if depth != "" {
				if f.bits, err = strconv.Atoi(depth); err != nil || f.bits < 8 || f.bits > 16 {
					return form{}, fmt.Errorf("read stream header: %q is no depth", w)
				}
			}
		}
	}
	if f.width <= 0 || f.height <= 0 || f.width > planar.MaxPixels/f.height {
		return form{}, fmt.Errorf("read stream header: a picture of %dx%d; at most %d megapixels are read", f.width,
			f.height, planar.MaxPixels/1_000_000)
	}
	return f, nil
}

// read passes on pictures until the stream ends; io.EOF if it ends between two pictures.
func (c *clip) read(ctx context.Context, from io.Reader) error {
	r := bufio.NewReaderSize(from, 4096) // larger reads go past it
	f, err := readForm(r)
	if err != nil {
		return err
	}
	for range cap(c.free) {
		c.free <- nil // made when needed
	}
	for {
		mark, err := r.ReadSlice('\n')
		if err == io.EOF && len(mark) == 0 {
			return io.EOF
		}
		if err != nil || !strings.HasPrefix(string(mark), "FRAME") {
			return errors.New("read picture: the stream is out of step")
		}
		var pix []byte
		select {
		case pix = <-c.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		if pix == nil {
			pix = make([]byte, f.bytes())
		}
		if _, err := io.ReadFull(r, pix); err != nil {
			return fmt.Errorf("read picture: %w", err)
		}
		select {
		case c.ahead <- plane{pix, f}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stamps are the times of pictures on their way from the one pipe to the pictures of the other.
// ffmpeg may be ahead in either, so they must never hold it up.
type stamps struct {
	mu    sync.Mutex
	more  sync.Cond
	list  []int64 // µs; guarded by mu
	ended bool    // guarded by mu
}

// read takes lines of the framecrc format until the stream ends: "0, dts, pts, duration, size,
// 0xcrc", the pts in µs; others start with "#".
func (s *stamps) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		if strings.HasPrefix(lines.Text(), "#") || len(fields) < 3 {
			continue
		}
		pts, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
		if err != nil {
			pts = -1 << 40 // no time; the clock goes on by itself
		}
		s.mu.Lock()
		s.list = append(s.list, pts)
		s.mu.Unlock()
		s.more.Signal()
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.more.Signal()
	_, _ = io.Copy(io.Discard, r)
}

// next waits for the next time; false after the last.
func (s *stamps) next() (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.list) == 0 && !s.ended {
		s.more.Wait()
	}
	if len(s.list) == 0 {
		return 0, false
	}
	t := s.list[0]
	s.list = s.list[1:]
	return t, true
}
