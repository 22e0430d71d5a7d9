package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/steady"
)

// maxDecoders bounds the decoders of one process.
const maxDecoders = 256

// Serve answers requests, one after the other, until r ends (nil) or breaks. before, which may be
// nil, sees each access unit before it is decoded; tests use it to make a process fail.
func Serve(r io.Reader, w io.Writer, e *engine.Engine, before func(au []byte)) error {
	return serve(bufio.NewReaderSize(r, 64<<10), w, e, before, nil)
}

// ServeFiles is Serve that leaves to package steady what that can serve, in builds that have it.
// shared is memory of both sides, for its replies; nil: there is none.
func ServeFiles(in, out *os.File, shared []byte, e *engine.Engine, before func(au []byte)) error {
	loop := steady.New(in, out, shared, e.Functions(), before != nil)
	if loop == nil {
		return Serve(in, out, e, before)
	}
	defer loop.Close()
	return serve(loop, out, e, before, loop)
}

func serve(in io.Reader, w io.Writer, e *engine.Engine, before func(au []byte), loop *steady.Loop) error {
	s := server{engine: e, decoders: map[uint32]*engine.Decoder{}, before: before, loop: loop}
	defer s.closeAll()
	return s.serve(in, w)
}

func (s *server) serve(in io.Reader, w io.Writer) error {
	var request, reply []byte
	for {
		if why := s.steadily(); why == steady.Broken {
			return s.loop.Err()
		} else if why == steady.Finish {
			reply = s.finish(reuse(reply)[:0])
			if _, err := w.Write(reply); err != nil {
				return fmt.Errorf("write reply: %w", err)
			}
			continue
		}
		f, err := ReadFrame(in, request, MaxRequest)
		if errors.Is(err, io.EOF) && !errors.Is(err, ErrBroken) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		if f.Body != nil {
			request = reuse(f.Body)
		}
		if reply, err = s.answer(reuse(reply)[:0], f); err != nil {
			return fmt.Errorf("serve request: %w", err)
		}
		if _, err := w.Write(reply); err != nil {
			return fmt.Errorf("write reply: %w", err)
		}
	}
}

// steadily has package steady serve what it can.
func (s *server) steadily() steady.Why {
	if s.loop == nil {
		return steady.Leave
	}
	for {
		why := s.loop.Next()
		if why != steady.Look {
			return why
		}
		s.before(s.loop.Unit())
	}
}

// finish appends the reply to an access unit that package steady has had decoded.
func (s *server) finish(reply []byte) []byte {
	number, lumaFrom, sent, received, frames := s.loop.Fed()
	d := s.decoders[number]
	d.LumaFrom(lumaFrom)
	pictures, err := d.Fed(sent, received, frames)
	if err != nil {
		return AppendError(reply, number, err)
	}
	return AppendPictures(reply, number, pictures)
}

// reuse is b, unless it is so large that keeping it for the next time would be a waste.
func reuse(b []byte) []byte {
	if cap(b) > 1<<20 {
		return nil
	}
	return b
}

// server is the decoders of one process.
type server struct {
	engine   *engine.Engine
	decoders map[uint32]*engine.Decoder
	before   func(au []byte)
	loop     *steady.Loop // nil: everything is served here
}

// answer appends the reply to one request. An error ends the process: the other side does not keep
// to the format.
func (s *server) answer(reply []byte, f Frame) ([]byte, error) {
	switch f.Kind {
	case Hello:
		return AppendHello(reply), nil
	case Capabilities:
		return AppendCapabilities(reply, s.engine.Capabilities()), nil
	case Open:
		return s.open(reply, f)
	case Close:
		if d := s.decoders[f.Decoder]; d != nil {
			delete(s.decoders, f.Decoder)
			s.close(f.Decoder, d)
		}
		return AppendFrame(reply, OK, f.Decoder), nil
	case Decode, DecodeMore, Flush, Still:
		d := s.decoders[f.Decoder]
		if d == nil {
			return AppendError(reply, f.Decoder, errors.New("the decoder is not open")), nil
		}
		return s.use(reply, d, f)
	}
	return nil, fmt.Errorf("kind %d: %w", f.Kind, ErrBroken)
}

func (s *server) open(reply []byte, f Frame) ([]byte, error) {
	format, lumaPixels, err := parseOpen(f.Body)
	if err != nil {
		return nil, err
	}
	if s.decoders[f.Decoder] != nil || len(s.decoders) >= maxDecoders {
		return nil, fmt.Errorf("open decoder %d: %w", f.Decoder, ErrBroken)
	}
	d, err := s.engine.Open(format, lumaPixels)
	if err != nil {
		return AppendError(reply, f.Decoder, err), nil
	}
	s.decoders[f.Decoder] = d
	if shared := d.Shared(); shared != nil && s.loop != nil {
		s.loop.Add(f.Decoder, shared)
	}
	return AppendFrame(reply, OK, f.Decoder), nil
}

func (s *server) use(reply []byte, d *engine.Decoder, f Frame) ([]byte, error) {
	var (
		pictures []engine.Picture
		err      error
	)
	switch f.Kind {
	case Still:
		pts, maxWidth, quality, err := parseStill(f.Body)
		if err != nil {
			return nil, err
		}
		still, err := d.Still(pts, maxWidth, quality)
		if err != nil {
			return AppendError(reply, f.Decoder, err), nil
		}
		if len(still) > MaxReply {
			return AppendError(reply, f.Decoder, fmt.Errorf("make still: it has %d bytes, more than %d", len(still),
				MaxReply)), nil
		}
		return AppendFrame(reply, OK, f.Decoder, still), nil
	case Decode, DecodeMore:
		au, pts, lumaFrom, perr := parseDecode(f.Body)
		if perr != nil {
			return nil, perr
		}
		if s.before != nil {
			s.before(au)
		}
		d.LumaFrom(lumaFrom)
		pictures, err = d.Decode(au, pts)
	default:
		pictures, err = d.Flush()
	}
	if err != nil {
		return AppendError(reply, f.Decoder, err), nil
	}
	return AppendPictures(reply, f.Decoder, pictures), nil
}

func (s *server) closeAll() {
	for number, d := range s.decoders {
		s.close(number, d)
	}
}

func (s *server) close(number uint32, d *engine.Decoder) {
	if s.loop != nil {
		s.loop.Remove(number)
	}
	d.Close()
}
