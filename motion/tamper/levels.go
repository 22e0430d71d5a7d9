package tamper

import (
	"encoding/binary"
	"slices"
)

// Light that changes in all of the picture.
const (
	// times as much as from one picture to the next, and grey levels more than that, by which
	// nearly all tiles change in a slot in which the light does
	drifts    = 3
	driftWide = 0.3
)

// levels are the mean grey levels of the tiles.
type levels [blocks]float32

// levels are those of the picture that was kept last.
func (s *stillness) levels() levels {
	var l levels
	height := len(s.before) / s.width
	for y := range height {
		row := l[y*blocksY/height*blocksX:][:blocksX]
		for b := range row {
			x0, x1 := block(b, blocksX, s.width)
			row[b] += float32(total(s.before[y*s.width+x0:y*s.width+x1])) / float32(max(1, x1-x0))
		}
	}
	for b := range l {
		l[b] *= float32(blocksY) / float32(height)
	}
	return l
}

// total is the sum of some bytes, eight at a time.
func total(p []byte) (sum uint64) {
	const even, most = 0x00ff00ff00ff00ff, 128 * 8 // as many as the sums hold
	for len(p) >= 8 {
		var pairs uint64
		part := p[:min(len(p)&^7, most)]
		p = p[len(part):]
		for ; len(part) >= 8; part = part[8:] {
			v := binary.LittleEndian.Uint64(part)
			pairs += v&even + v>>8&even
		}
		sum += pairs&0xffff + pairs>>16&0xffff + pairs>>32&0xffff + pairs>>48
	}
	for _, v := range p {
		sum += uint64(v)
	}
	return sum
}

// from is by how much three quarters of the tiles differ at least.
func (l *levels) from(k *levels) float64 {
	differ := *l
	for b := range l {
		differ[b] = abs(l[b] - k[b])
	}
	slices.Sort(differ[:])
	return float64(differ[quarter])
}

// drifted tells whether the light changed nearly everywhere in the slot that ends, and remembers
// where the next one begins.
func (s *stillness) drifted() bool {
	now := s.levels()
	went, step := now.from(&s.began), now.from(&s.last)
	s.began = now
	return went > drifts*step+driftWide
}
