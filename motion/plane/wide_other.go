//go:build (!amd64 && !arm64) || purego

package plane

import "encoding/binary"

// Without vectors nothing is done ahead of the plain loops, except where a word of eight bytes
// helps.

func classifyWide(now, before []uint16, gain, offset int32, background, noise []uint16, contrast int32,
	flags []byte) int {
	return 0
}

func exposeWide(cells []uint16, gain, offset int32) int { return 0 }

func learnWide(now, before []uint16, gain, offset int32, flags, solid, held []byte, m *Memory, p *Pace) int {
	return 0
}

func sumWide(x, y []uint16, gain, offset, limit int32, m *Moments) {
	sumPlain(x, y, Exposure{gain, offset}, limit, m)
}

func widenWide(row []byte, out []uint16) int { return 0 }

func sumColumnsWide(luma []byte, stride, rows int, sums []uint16) int { return 0 }

func meansTwoWide(luma []byte, stride, width, height int, cells []uint16) int { return 0 }

func meansFourWide(luma []byte, stride int, out []uint16) int { return 0 }

func likeWide(x, y []uint16, pitch, rows int, l *Likeness) { likePlain(x, y, pitch, 8, rows, l) }

func onesWide(flags, mask, out []byte) (done int, any uint64) {
	for len(flags) >= 8 && len(mask) >= 8 && len(out) >= 8 {
		v := binary.LittleEndian.Uint64(flags) & binary.LittleEndian.Uint64(mask)
		v = (v | v>>1) & 0x0101010101010101
		any |= v
		binary.LittleEndian.PutUint64(out, v)
		flags, mask, out, done = flags[8:], mask[8:], out[8:], done+8
	}
	return done, any
}

func despeckleWide(ones []byte, pitch int, solid []byte) (done, found int) { return 0, 0 }

func flagsWide(flags []byte, pitch, rows int, blocks []Block) int { return 0 }

func solidWide(flags, solid []byte, pitch, rows int, blocks []Block) int { return 0 }

func tilesWide(solid, parked []byte, width, rows int, set, stands []uint64) int { return 0 }

func stirsWide(flags, solid, parked []byte, stay []uint16, young uint16, bits []uint64) int { return 0 }

func measureWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved bool) {
	return 0, false, false
}

func traceWide(v *Views, x, y, n int, s *Sums) int { return 0 }

func smoothWide(to, a, b, c []uint16) int { return 0 }

func pickWide(cells []uint16, at []int32, to []uint16) int { return 0 }

func flaggedWide(flags []byte, at []int32, some byte, to []uint16) int { return 0 }

func shareWide(to, from []uint16, share uint16) int { return 0 }

// wearWide passes over cells at the beginning in which nothing moves and nothing is remembered,
// eight at a time.
func wearWide(memory, flags, passing []byte, up, down uint8) (done int) {
	for len(memory)-done >= 8 &&
		binary.LittleEndian.Uint64(flags[done:])&(0x0101010101010101*Moved)|binary.LittleEndian.Uint64(
			memory[done:]) == 0 {
		done += 8
	}
	return done
}
