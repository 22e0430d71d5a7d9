package contour

import (
	"bytes"
	"encoding/binary"
)

// How close a pixel is to what the detector marks.
const (
	priorNone   = iota
	priorMark   // was marked lately
	priorNear   // is near a seed
	priorSeed   // is a seed
	priorInside // is a seed, and so are all around it
)

const (
	reachShare  = 60 // of the width, that is reached beyond a seed
	insideShare = 80 // of the width, by which a pixel is inside
)

// near sets prior, and the part of the picture in which it is something.
func (c *Contour) near(seeds []byte) {
	w, reach := c.width, max(2, c.width/reachShare)
	c.limit(seeds, reach)
	blind := c.time.Before(c.blindTill)
	clear(c.prior)
	clear(c.cand)
	for y := c.top; y < c.bottom; y++ {
		lately, in := c.lately[y*w:][c.left:c.right], seeds[y*w:][c.left:c.right]
		prior, cand := c.prior[y*w:][c.left:c.right], c.cand[y*w:][c.left:c.right]
		for x, s := range in {
			if lately[x] != 0 {
				prior[x] = priorMark
			}
			cand[x] = s & 1
		}
	}
	if !blind {
		c.count(c.cand, reach, c.rect, func(y int, sums []int32) {
			prior := c.prior[y*w:][c.left:c.right]
			for x, sum := range sums[:len(prior)] {
				if sum > 0 {
					prior[x] = priorNear
				}
			}
		})
	}
	for y := c.top; y < c.bottom; y++ {
		lately, prior := c.lately[y*w:][c.left:c.right], c.prior[y*w:][c.left:c.right]
		for x, s := range seeds[y*w:][c.left:c.right] {
			if s != 0 && (!blind || lately[x] != 0) {
				prior[x] = priorSeed
			}
		}
	}
	inside := max(1, w/insideShare)
	c.count(c.cand, inside, c.rect, func(y int, sums []int32) {
		prior := c.prior[y*w:][c.left:c.right]
		rows := c.rowsAround(y, inside)
		for x, sum := range sums[:len(prior)] {
			if prior[x] == priorSeed && sum == rows*c.columnsAround(c.left+x, inside) {
				prior[x] = priorInside
			}
		}
	})
}

// limit finds the part of the picture in which anything is marked by the detector, or was lately,
// and some around it: mostly nothing is.
func (c *Contour) limit(seeds []byte, around int) {
	w := c.width
	box := rect{left: w, top: c.height}
	for y := range c.height {
		for _, row := range [2][]byte{seeds[y*w:][:w], c.lately[y*w:][:w]} {
			if bytes.Count(row, []byte{0}) == w {
				continue
			}
			box.top, box.bottom = min(box.top, y), y+1
			for x, v := range row[:box.left] {
				if v != 0 {
					box.left = x
					break
				}
			}
			for x := w; x > box.right; x-- {
				if row[x-1] != 0 {
					box.right = x
					break
				}
			}
		}
	}
	if box.top >= box.bottom {
		c.rect = rect{}
		return
	}
	c.rect = c.wider(box, around)
}

// wider is a rect and some around it, inside the picture.
func (c *Contour) wider(r rect, by int) rect {
	return rect{max(0, r.left-by), max(0, r.top-by), min(c.width, r.right+by), min(c.height, r.bottom+by)}
}

// count hands out, row by row of a rect, how many ones there are in a square of 2*r+1 around each
// pixel.
func (c *Contour) count(in []byte, r int, within rect, each func(y int, sums []int32)) {
	if within.top >= within.bottom || within.left >= within.right {
		return
	}
	w, h, wide := c.width, c.height, within.right-within.left
	// The columns go on by r, and one more, at either side; there are zeroes where the picture
	// ends.
	columns, sums := c.sumsOf(wide+2*r+1), c.counts[:wide]
	from, to := max(0, within.left-r-1), min(w, within.right+r)
	shift := from - (within.left - r - 1)
	add := func(y int, times int32) {
		if y < 0 || y >= h {
			return
		}
		row := in[y*w:][from:to]
		line := columns[shift:][:len(row)]
		for at := 0; at < len(row); at += blank {
			end := min(len(row), at+blank)
			if allZero(row[at:end]) {
				continue
			}
			for x := at; x < end; x++ {
				line[x] += times * int32(row[x])
			}
		}
	}
	for y := within.top - r; y < within.top+r; y++ {
		add(y, 1)
	}
	for y := within.top; y < within.bottom; y++ {
		add(y+r, 1)
		sum := int32(0)
		for _, v := range columns[:2*r+1] {
			sum += v
		}
		ahead, behind := columns[2*r+1:][:wide], columns[:wide]
		for x := range sums {
			sum += ahead[x] - behind[x]
			sums[x] = sum
		}
		each(y, sums)
		add(y-r, -1)
	}
}

// blank is how many pixels are passed over at once where there is nothing.
const blank = 8

// allZero tells whether a block has nothing in it.
func allZero(block []byte) bool {
	return len(block) == blank && binary.LittleEndian.Uint64(block) == 0
}

// sumsOf returns n zeroes for columns, and makes counts long enough for a row.
func (c *Contour) sumsOf(n int) []int32 {
	if len(c.counts) < c.width {
		c.counts = make([]int32, c.width)
	}
	if cap(c.totals) < n {
		c.totals = make([]int32, n)
	}
	c.totals = c.totals[:n]
	clear(c.totals)
	return c.totals
}

// rowsAround is how many rows of the picture are at most r from one, columnsAround the same of
// columns.
func (c *Contour) rowsAround(y, r int) int32 { return int32(min(c.height, y+r+1) - max(0, y-r)) }

func (c *Contour) columnsAround(x, r int) int32 { return int32(min(c.width, x+r+1) - max(0, x-r)) }
