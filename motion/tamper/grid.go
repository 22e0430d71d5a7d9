package tamper

import "vmsbridge/motion"

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

// reduce writes the mean of each cell's pixels into cells.
func (g grid) reduce(p motion.Picture, cells []float32) {
	scale := 1 / float32(g.side*g.side)
	for y := range g.height {
		row := cells[y*g.width : (y+1)*g.width]
		clear(row)
		for k := range g.side {
			line := p.Luma[(y*g.side+k)*p.Stride:][:g.width*g.side]
			for x := range row {
				sum := 0
				for _, v := range line[x*g.side : (x+1)*g.side] {
					sum += int(v)
				}
				row[x] += float32(sum)
			}
		}
		for x := range row {
			row[x] *= scale
		}
	}
}

// highPass writes into out what each cell is more than the mean around it, (2*reach+1)² cells. sums
// is scratch of the cells' size.
func (g grid) highPass(cells, sums, out []float32) {
	w := g.width
	for y := range g.height { // sums of rows
		row, to := cells[y*w:(y+1)*w], sums[y*w:(y+1)*w]
		for x := range row {
			s := float32(0)
			for _, v := range row[max(0, x-reach):min(w, x+reach+1)] {
				s += v
			}
			to[x] = s
		}
	}
	for y := range g.height {
		from, to := max(0, y-reach), min(g.height, y+reach+1)
		for x := range w {
			s := float32(0)
			for k := from; k < to; k++ {
				s += sums[k*w+x]
			}
			n := (to - from) * (min(w, x+reach+1) - max(0, x-reach))
			out[y*w+x] = cells[y*w+x] - s/float32(n)
		}
	}
}

// block is the range of cells or fine pixels of row or column number b of n, of a length.
func block(b, n, length int) (from, to int) { return b * length / n, (b + 1) * length / n }
