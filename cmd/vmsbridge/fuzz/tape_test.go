package fuzz

import "strings"

// tape is the input as choices, one after the other. Behind its end every choice is the first.
type tape struct{ rest []byte }

func (t *tape) byte() byte {
	if len(t.rest) == 0 {
		return 0
	}
	b := t.rest[0]
	t.rest = t.rest[1:]
	return b
}

// below is a number from 0 to n-1, n at most 65536.
func (t *tape) below(n int) int {
	if n <= 256 {
		return int(t.byte()) % n
	}
	return (int(t.byte())<<8 | int(t.byte())) % n
}

func (t *tape) one(of []string) string { return of[t.below(len(of))] }

// sometimes is true once in n.
func (t *tape) sometimes(n int) bool { return t.below(n) == n-1 }

// some is a piece of the tape itself.
func (t *tape) some(most int) []byte {
	n := min(t.below(most+1), len(t.rest))
	b := t.rest[:n]
	t.rest = t.rest[n:]
	return b
}

// wild are values that a program may not expect where it reads a value.
var wild = []string{"", "0", "1", "-1", "true", "null", "[]", "{}", "[[]]", "\x00", "é\xff", "%zz", "%00", "../../etc/passwd",
	"1e309", "9223372036854775808", "-9223372036854775809", "NaN", "00000000", "camera:", "camera:gate", ":gate", "bridge:bridge-1",
	"2026-01-01T00:00:00.000+00:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999+23:59", "1969-12-31T00:00:00 00:00",
	"vms.motionDetectionEvent.v1", "data.vms.fullFrameImageUrl.v1", "'; --", "<script>", "\r\nX: y", strings.Repeat("a", 70_000), strings.Repeat("[", 9_000)}

// value is a wild one, a known one, or a piece of the tape.
func (t *tape) value(known []string) string {
	switch t.below(4) {
	case 0:
		return t.one(wild)
	case 1:
		return string(t.some(40))
	}
	return t.one(known)
}
