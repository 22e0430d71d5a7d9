package worker

import (
	"encoding/binary"
	"fmt"

	"vmsbridge/agent/codec/engine"
)

// AppendOpen appends the request to open a decoder.
func AppendOpen(b []byte, decoder uint32, f engine.Format, lumaPixels int) []byte {
	var pixels [4]byte
	binary.LittleEndian.PutUint32(pixels[:], uint32(min(max(lumaPixels, 0), engine.MaxLuma)))
	return AppendFrame(b, Open, decoder, pixels[:], []byte(f))
}

// AppendDecode appends the request to decode an access unit, which is copied; pictures before
// lumaFrom are to come without luma.
func AppendDecode(b []byte, decoder uint32, au []byte, pts, lumaFrom int64) []byte {
	return appendDecode(b, Decode, decoder, au, pts, lumaFrom)
}

// AppendDecodeMore is AppendDecode for an access unit that is asked for before the reply to the
// request before was read.
func AppendDecodeMore(b []byte, decoder uint32, au []byte, pts, lumaFrom int64) []byte {
	return appendDecode(b, DecodeMore, decoder, au, pts, lumaFrom)
}

func appendDecode(b []byte, k Kind, decoder uint32, au []byte, pts, lumaFrom int64) []byte {
	var times [timesBytes]byte
	binary.LittleEndian.PutUint64(times[:], uint64(pts))
	binary.LittleEndian.PutUint64(times[8:], uint64(lumaFrom))
	return AppendFrame(b, k, decoder, times[:], au)
}

const timesBytes = 16 // before the access unit

// AppendStill appends the request for a still.
func AppendStill(b []byte, decoder uint32, pts int64, maxWidth, quality int) []byte {
	var body [13]byte
	binary.LittleEndian.PutUint64(body[0:], uint64(pts))
	binary.LittleEndian.PutUint32(body[8:], uint32(min(max(maxWidth, 0), 1<<20)))
	body[12] = byte(min(100, max(1, quality)))
	return AppendFrame(b, Still, decoder, body[:])
}

func parseOpen(body []byte) (engine.Format, int, error) {
	if len(body) < 4 || len(body) > 4+16 {
		return "", 0, fmt.Errorf("open of %d bytes: %w", len(body), ErrBroken)
	}
	return engine.Format(body[4:]), int(min(binary.LittleEndian.Uint32(body), engine.MaxLuma)), nil
}

func parseDecode(body []byte) (au []byte, pts, lumaFrom int64, err error) {
	if len(body) < timesBytes || len(body) > timesBytes+MaxAccessUnit {
		return nil, 0, 0, fmt.Errorf("decode of %d bytes: %w", len(body), ErrBroken)
	}
	return body[timesBytes:], int64(binary.LittleEndian.Uint64(body)), int64(binary.LittleEndian.Uint64(body[8:])), nil
}

func parseStill(body []byte) (pts int64, maxWidth, quality int, err error) {
	if len(body) != 13 {
		return 0, 0, 0, fmt.Errorf("still of %d bytes: %w", len(body), ErrBroken)
	}
	return int64(binary.LittleEndian.Uint64(body)), int(binary.LittleEndian.Uint32(body[8:])), int(body[12]), nil
}
