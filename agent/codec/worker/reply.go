package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/planar"
)

const pictureBytes = 24 // before the luma

// AppendPictures appends a reply with pictures.
func AppendPictures(b []byte, decoder uint32, pictures []engine.Picture) []byte {
	var n int
	for _, p := range pictures {
		n += pictureBytes + len(p.Luma)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = append(b, byte(Pictures), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, decoder)
	for _, p := range pictures {
		b = binary.LittleEndian.AppendUint64(b, uint64(p.PTS))
		for _, v := range []int{p.Width, p.Height, p.LumaWidth, p.LumaHeight} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, p.Luma...)
	}
	return b
}

// ParsePictures reads the body of a reply with pictures. Their Luma are parts of body.
func ParsePictures(body []byte) ([]engine.Picture, error) {
	var out []engine.Picture
	for len(body) > 0 {
		if len(body) < pictureBytes {
			return nil, fmt.Errorf("read picture: %d bytes left: %w", len(body), ErrBroken)
		}
		field := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(body[at:])) }
		w, h, lw, lh := field(8), field(12), field(16), field(20)
		luma := lw * lh
		switch {
		case w == 0 || h == 0 || w*h > planar.MaxPixels || lw > w || lh > h || luma > engine.MaxLuma ||
			(luma == 0 && lw|lh != 0):
			return nil, fmt.Errorf("read picture: size %dx%d with luma %dx%d: %w", w, h, lw, lh, ErrBroken)
		case luma > uint64(len(body)-pictureBytes):
			return nil, fmt.Errorf("read picture: luma of %d bytes in %d: %w", luma, len(body)-pictureBytes, ErrBroken)
		}
		end := pictureBytes + int(luma)
		p := engine.Picture{
			PTS:   int64(binary.LittleEndian.Uint64(body)),
			Width: int(w), Height: int(h), LumaWidth: int(lw), LumaHeight: int(lh),
		}
		if luma > 0 {
			p.Luma = body[pictureBytes:end:end]
		}
		out, body = append(out, p), body[end:]
	}
	return out, nil
}

// Place answers the reply that a Placed one stands for: its body is where that says in what the
// process shares, and is appended to room. Whoever has taken the process over may change what it
// shares at any time, so that nothing may look at it there. Other replies stay as they are.
func Place(f Frame, shared, room []byte) (Frame, []byte, error) {
	if f.Kind != Placed {
		return f, room, nil
	}
	if len(f.Body) != placedBytes {
		return f, room, fmt.Errorf("read where a reply is: %d bytes: %w", len(f.Body), ErrBroken)
	}
	at, n := uint64(binary.LittleEndian.Uint32(f.Body)), uint64(binary.LittleEndian.Uint32(f.Body[4:]))
	if at+n > uint64(len(shared)) {
		return f, room, fmt.Errorf("read where a reply is: %d bytes at %d of %d: %w", n, at, len(shared), ErrBroken)
	}
	begin := len(room)
	room = append(room, shared[at:at+n]...)
	f.Kind, f.Body = Pictures, room[begin:len(room):len(room)]
	return f, room, nil
}

const placedBytes = 8

// AppendError appends the reply that stands for an error of the engine.
func AppendError(b []byte, decoder uint32, err error) []byte {
	if errors.Is(err, engine.ErrGone) {
		return AppendFrame(b, Gone, decoder)
	}
	if u, ok := errors.AsType[*engine.UnsupportedError](err); ok {
		if body, jerr := json.Marshal(u); jerr == nil {
			return AppendFrame(b, Unsupported, decoder, body)
		}
	}
	return AppendFrame(b, Failed, decoder, []byte(err.Error()))
}

// maxText bounds a text that comes from a decoder process.
const maxText = 4096

// ParseError is the error that a reply stands for; nil for OK and Pictures, ErrBroken if it is no
// reply.
func ParseError(f Frame) error {
	switch f.Kind {
	case OK, Pictures:
		return nil
	case Gone:
		return engine.ErrGone
	case Failed:
		return errors.New(string(f.Body[:min(len(f.Body), maxText)]))
	case Unsupported:
		var u engine.UnsupportedError
		if err := json.Unmarshal(f.Body, &u); err != nil {
			return fmt.Errorf("read reason: %w: %w", ErrBroken, err)
		}
		return &u
	}
	return fmt.Errorf("read reply of kind %d: %w", f.Kind, ErrBroken)
}

// AppendCapabilities appends the reply that says what the engine can do.
func AppendCapabilities(b []byte, c engine.Capabilities) []byte {
	body, err := json.Marshal(c)
	if err != nil {
		return AppendError(b, 0, err)
	}
	return AppendFrame(b, OK, 0, body)
}

// ParseCapabilities reads what AppendCapabilities wrote.
func ParseCapabilities(body []byte) (c engine.Capabilities, err error) {
	if err := json.Unmarshal(body, &c); err != nil {
		return c, fmt.Errorf("read capabilities: %w: %w", ErrBroken, err)
	}
	return c, nil
}

// AppendHello appends the reply to a hello.
func AppendHello(b []byte) []byte {
	return AppendFrame(b, OK, 0, binary.LittleEndian.AppendUint32(nil, Version))
}

// ParseHello says whether the process speaks this version.
func ParseHello(body []byte) error {
	if len(body) != 4 || binary.LittleEndian.Uint32(body) != Version {
		return fmt.Errorf("read hello: another version: %w", ErrBroken)
	}
	return nil
}
