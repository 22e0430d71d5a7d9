package area

import "math/bits"

// spread fills near. A tile that stands and is not yet near takes the eight around it with it, row
// after row; so the border of a large place is one tile wide at its left and upper side, and at
// most that at the others.
func (l *Finder) spread() {
	clear(l.near)
	for y := l.from; y < l.to; y++ {
		above, below := max(0, y-1)*l.words, min(l.height-1, y+1)*l.words
		for w := range l.words {
			stands, near := l.stands[y*l.words+w], &l.near[y*l.words+w]
			for left := stands &^ *near; left != 0; left = stands &^ *near {
				bit := bits.TrailingZeros64(left)
				around := uint64(3)
				if bit > 0 {
					around = 7 << (bit - 1)
				} else if w > 0 {
					l.reach(above, below, y, w-1, 1<<63)
				}
				if bit == 63 && w+1 < l.words {
					l.reach(above, below, y, w+1, 1)
				}
				if x := w*64 + bit; x+1 == l.width {
					around = around << (63 - bit) >> (63 - bit)
				}
				l.reach(above, below, y, w, around)
			}
		}
	}
}

// reach sets bits of near in word w of row y, and of the rows above and below it, which begin at
// words.
func (l *Finder) reach(above, below, y, w int, around uint64) {
	l.near[above+w] |= around
	l.near[below+w] |= around
	l.near[y*l.words+w] |= around
}
