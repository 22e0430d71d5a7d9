// Package worker is the two ends of the pipe between the agent and a decoder process: the frames
// that cross it (format.md) and the loop that serves them in the process. agent/codec starts the
// processes and is the other end; beneath is engine.
//
//	err := worker.Serve(os.NewFile(3, "requests"), os.NewFile(4, "replies"),
//		engine.New(engine.Options{}), nil)
//
// Both ends distrust each other: every length is checked before anything is allocated for it.
package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Version of the format; a hello with another one is refused.
const Version = 3

// Kind says what a frame is.
type Kind uint8

// Requests, from the agent.
const (
	Hello Kind = 1 + iota
	Open
	Decode
	Still
	Flush
	Close
	Capabilities
	DecodeMore
)

// Replies, from the process.
const (
	OK Kind = 64 + iota
	Pictures
	Failed
	Unsupported
	Gone
	Placed
)

// Limits of a frame's body.
const (
	MaxAccessUnit = 16 << 20
	MaxRequest    = MaxAccessUnit + 64
	MaxReply      = 64 << 20
)

const headerBytes = 12

// Frame is a kind, a decoder's number and a body.
type Frame struct {
	Kind    Kind
	Decoder uint32
	Body    []byte
}

// ErrBroken marks a stream that does not keep to the format.
var ErrBroken = errors.New("the stream to the decoder process is broken")

// AppendFrame appends a frame with the given parts of its body, ready to be written at once.
func AppendFrame(b []byte, k Kind, decoder uint32, parts ...[]byte) []byte {
	var n int
	for _, p := range parts {
		n += len(p)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = append(b, byte(k), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, decoder)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// ParseFrame reads the frame at the beginning of what was read so far. size is how many bytes must
// be read before more is known of it: those of the whole frame, once they are no more than len(b).
// Its body is part of b, and has at most maxBody bytes.
func ParseFrame(b []byte, maxBody int) (f Frame, size int, err error) {
	if len(b) < headerBytes {
		return Frame{}, headerBytes, nil
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case int64(n) > int64(maxBody):
		return Frame{}, 0, fmt.Errorf("read header: a body of %d bytes: %w", n, ErrBroken)
	case b[5]|b[6]|b[7] != 0:
		return Frame{}, 0, fmt.Errorf("read header: bytes that must be zero are not: %w", ErrBroken)
	}
	f, size = Frame{Kind: Kind(b[4]), Decoder: binary.LittleEndian.Uint32(b[8:])}, headerBytes+int(n)
	if n > 0 && size <= len(b) {
		f.Body = b[headerBytes:size:size]
	}
	return f, size, nil
}

// ReadFrame reads the next frame. Its body is read into buf if it fits, else into a new slice, at
// most maxBody bytes; with buf nil the body is the caller's own. io.EOF: the stream ended between
// two frames.
func ReadFrame(r io.Reader, buf []byte, maxBody int) (Frame, error) {
	var h [headerBytes]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Frame{}, fmt.Errorf("read header: %w: %w", ErrBroken, err)
		}
		return Frame{}, err
	}
	f, size, err := ParseFrame(h[:], maxBody)
	if err != nil || size == headerBytes {
		return f, err
	}
	n := size - headerBytes
	if n <= cap(buf) {
		f.Body = buf[:n]
	} else {
		f.Body = make([]byte, n)
	}
	if _, err := io.ReadFull(r, f.Body); err != nil {
		return Frame{}, fmt.Errorf("read body: %w: %w", ErrBroken, err)
	}
	return f, nil
}
