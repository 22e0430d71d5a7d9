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
const Version = 1

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
)

// Replies, from the process.
const (
	OK Kind = 64 + iota
	Pictures
	Failed
	Unsupported
	Gone
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
	n := binary.LittleEndian.Uint32(h[0:])
	f := Frame{Kind: Kind(h[4]), Decoder: binary.LittleEndian.Uint32(h[8:])}
	switch {
	case int64(n) > int64(maxBody):
		return Frame{}, fmt.Errorf("read header: a body of %d bytes: %w", n, ErrBroken)
	case h[5]|h[6]|h[7] != 0:
		return Frame{}, fmt.Errorf("read header: bytes that must be zero are not: %w", ErrBroken)
	case n == 0:
		return f, nil
	}
	if int(n) <= cap(buf) {
		f.Body = buf[:n]
	} else {
		f.Body = make([]byte, n)
	}
	if _, err := io.ReadFull(r, f.Body); err != nil {
		return Frame{}, fmt.Errorf("read body: %w: %w", ErrBroken, err)
	}
	return f, nil
}
