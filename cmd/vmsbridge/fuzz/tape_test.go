package fuzz

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// tape is the input as choices, one after the other. Behind its end the choices are random, from a
// source whose seed is the whole input: a short input, as the fuzzer makes most, is not a dull one,
// and the same input is always the same choices.
type tape struct {
	rest []byte
	more *rand.Rand
}

func newTape(input []byte) *tape {
	h := fnv.New64a()
	_, _ = h.Write(input) // never fails
	return &tape{bytes.Clone(input), rand.New(rand.NewPCG(h.Sum64(), 1))}
}

// apart is a tape for somebody who reads at the same time as the others.
func (t *tape) apart() *tape {
	return &tape{more: rand.New(rand.NewPCG(t.more.Uint64(), uint64(t.byte())))}
}

func (t *tape) byte() byte {
	if len(t.rest) == 0 {
		return byte(t.more.Uint32())
	}
	b := t.rest[0]
	t.rest = t.rest[1:]
	return b
}

// below is a number from 0 to n-1.
func (t *tape) below(n int) int {
	switch {
	case n <= 256:
		return int(t.byte()) % n
	case n <= 65536:
		return (int(t.byte())<<8 | int(t.byte())) % n
	}
	return (int(t.byte())<<24 | int(t.byte())<<16 | int(t.byte())<<8 | int(t.byte())) % n
}

func (t *tape) one(of []string) string { return of[t.below(len(of))] }

// sometimes is true once in n.
func (t *tape) sometimes(n int) bool { return t.below(n) == n-1 }

// some are so many bytes at most.
func (t *tape) some(most int) []byte {
	b := make([]byte, t.below(most+1))
	for i := range b {
		b[i] = t.byte()
	}
	return b
}

// wild are values that a program may not expect where it reads a value.
var wild = []string{"", "0", "1", "-1", "true", "null", "[]", "{}", "[[]]", "\x00", "é\xff", "%zz", "%00",
	"../../etc/passwd",
	"1e309", "9223372036854775808", "-9223372036854775809", "NaN", "00000000", "camera:", "camera:gate", ":gate",
	"bridge:bridge-1",
	"2026-01-01T00:00:00.000+00:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999+23:59",
	"1969-12-31T00:00:00 00:00",
	"vms.motionDetectionEvent.v1", "data.vms.fullFrameImageUrl.v1", "'; --", "<script>", "\r\nX: y",
	strings.Repeat("a", 70_000), strings.Repeat("[", 9_000)}

// value is a wild one, a known one, or some bytes.
func (t *tape) value(known []string) string {
	switch t.below(6) {
	case 0:
		return t.one(wild)
	case 1:
		return string(t.some(40))
	}
	return t.one(known)
}

// damage changes one place of a text or file.
func damage(in *tape, b []byte) []byte {
	if len(b) == 0 {
		return in.some(20)
	}
	at := in.below(len(b))
	end := min(len(b), at+1+in.below(64))
	switch in.below(6) {
	case 0:
		b[at] ^= 1 << in.below(8)
	case 1:
		b[at] = in.byte()
	case 2:
		return append(b[:at:at], b[end:]...)
	case 3:
		return append(b[:at:at], append(in.some(40), b[at:]...)...)
	case 4:
		return append(b[:end:end], b[at:]...)
	default:
		copy(b[at:], in.some(64))
	}
	return b
}
