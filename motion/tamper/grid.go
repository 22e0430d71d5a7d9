package tamper

import (
	"vmsbridge/motion"
	"vmsbridge/motion/plane"
)

const (
	gridCells  = 3600 // about as many cells has a picture of any size: 80x45 where it is 16:9
	finePixels = 320 * 180
	fineRows   = 4 // one of so many rows of pixels is compared finely
	// Blocks divide the cells; each is judged on its own.
	blocksX, blocksY = 8, 5
	blocks           = blocksX * blocksY
	reach            = 2 // a cell is compared with the mean of the cells up to this far away
)

// grid divides pictures of one size.
type grid struct {
	pictureWidth, pictureHeight int
	side                        int // of a cell, in pixels
	width, height               int // in cells
	pitch                       int // between the pixels of the fine comparison
	fineWidth, fineHeight       int // its pixels, in every fourth row
}

func newGrid(width, height int) grid {
	g := grid{pictureWidth: width, pictureHeight: height, side: rootOf(width * height / gridCells),
		pitch: rootOf(width * height / finePixels)}
	g.width, g.height = width/g.side, height/g.side
	g.fineWidth, g.fineHeight = max(0, width/g.pitch-2), max(0, (height/g.pitch-2)/fineRows)
	return g
}

// rootOf is the whole number nearest to the square root, at least 1.
func rootOf(n int) int {
	r := 1
	for (2*r+1)*(2*r+1) <= 4*n {
		r++
	}
	return r
}

func (g grid) cells() int { return g.width * g.height }

// usable tells whether the picture is large enough for blocks to mean something.
func (g grid) usable() bool { return g.width >= 4*blocksX && g.height >= 4*blocksY }

// reduce writes the mean of each cell's pixels into cells. means is scratch of the cells' size.
func (g grid) reduce(p motion.Picture, means []uint16, cells []float32) {
	plane.Means(p.Luma, p.Stride, g.side, g.width, g.height, means)
	for i, m := range means {
		cells[i] = float32(m) / 256
	}
}

// highPass writes into out what each cell is more than the mean around it, (2*reach+1)² cells. sums
// is scratch of the cells' size.
func (g grid) highPass(cells, sums, out []float32) {
	const across = 2*reach + 1
	w := g.width
	for y := range g.height { // sums of rows
		row, to := cells[y*w:(y+1)*w], sums[y*w:(y+1)*w]
		for x := range reach { // at the edges of fewer cells, which count more
			n := reach + 1 + x
			to[x], to[w-1-x] = sum(row[:n])*across/float32(n), sum(row[w-n:])*across/float32(n)
		}
		for x := range to[2*reach:] {
			r := row[x:][:across:across]
			to[x+reach] = r[0] + r[1] + r[2] + r[3] + r[4]
		}
	}
	for y := range g.height {
		from, to := max(0, y-reach), min(g.height, y+reach+1)
		row, share := out[y*w:(y+1)*w], 1/float32((to-from)*across)
		copy(row, sums[from*w:])
		for k := from + 1; k < to; k++ {
			for x, v := range sums[k*w:][:len(row):len(row)] {
				row[x] += v
			}
		}
		for x, v := range cells[y*w:][:len(row):len(row)] {
			row[x] = v - row[x]*share
		}
	}
}

func sum(cells []float32) (s float32) {
	for _, v := range cells {
		s += v
	}
	return s
}

// block is the range of cells or fine pixels of row or column number b of n, of a length.
func block(b, n, length int) (from, to int) { return b * length / n, (b + 1) * length / n }

// fineBlock is the block of a row of fine pixels in a column of blocks.
func (g grid) fineBlock(bx, y int) int { return min(blocksY-1, y*blocksY/g.fineHeight)*blocksX + bx }
