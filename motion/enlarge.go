package motion

import "vmsbridge/motion/shake"

// smooth rounds the steps between cells: each level is the weighted mean (1 2 1 in both directions)
// of the shape around it, 0..16, with twice the weight of the cell itself.
func (s *silhouette) smooth(g grid) {
	at := func(x, y int) uint8 {
		return s.shape[max(0, min(g.height-1, y))*g.width+max(0, min(g.width-1, x))]
	}
	for y := range g.height {
		for x := range g.width {
			sum := uint8(0)
			for j := -1; j <= 1; j++ {
				k := uint8(2 - j*j)
				sum += k * (at(x-1, y+j) + 2*at(x, y+j) + at(x+1, y+j))
			}
			s.level[y*g.width+x] = sum
		}
	}
}

// filled are the cells, from the first to before the last, outside of which two rows are empty.
func filled(a, b []uint8) (left, right int) {
	right = len(a)
	for left < right && a[left]|b[left] == 0 {
		left++
	}
	for right > left && a[right-1]|b[right-1] == 0 {
		right--
	}
	return left, right
}

// scale draws where the level, interpolated between the cells' centres, is above one half.
func (s *silhouette) scale(g grid, shake shake.Steady, dst []byte, width, height int) {
	// Places are in 1/256 cells.
	stepX := 256 * g.pictureWidth * 256 / (g.side * width)
	stepY := 256 * g.pictureHeight * 256 / (g.side * height)
	dx, dy := int(256*shake.DX), int(256*shake.DY)
	for y := range height {
		v := max(0, (y*stepY+stepY/2)/256-128-dy)
		y0 := min(v>>8, g.height-1)
		y1, fy := min(y0+1, g.height-1), v&255
		up, down := s.level[y0*g.width:][:g.width], s.level[y1*g.width:][:g.width]
		row := dst[y*width:][:width]
		clear(row)
		left, right := filled(up, down)
		if left >= right {
			continue
		}
		// The pixels that those cells reach, and a few more.
		from, to := max(0, ((left-1)*256+128+dx)*256/stepX-2), min(width, ((right+1)*256+128+dx)*256/stepX+2)
		if right == g.width {
			to = width
		}
		for x := from; x < to; x++ {
			u := max(0, (x*stepX+stepX/2)/256-128-dx)
			x0 := min(u>>8, g.width-1)
			x1, fx := min(x0+1, g.width-1), u&255
			a := int(up[x0])*(256-fx) + int(up[x1])*fx
			b := int(down[x0])*(256-fx) + int(down[x1])*fx
			if a*(256-fy)+b*fy >= 8<<16 {
				row[x] = 255
			}
		}
	}
}
