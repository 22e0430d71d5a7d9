package plane

// Moments are the sums that a straight line through points is fitted from.
type Moments struct {
	N            int64 // points
	X, Y, XX, XY int64 // sums over x and y in 1/16 grey levels
	Rest         int64 // sum of the distances from the line before, in 1/256 grey levels
}

// Sum adds up the points x, y that lie at most limit from e. Where the sensor or the coding clips
// (y below 1 or above 254), there is no line to fit.
func Sum(x, y []uint16, e Exposure, limit int32) Moments {
	const block = 1024 // points, so that no 32-bit sum overflows in the vector loop
	y = y[:len(x)]
	var m Moments
	if e.wide() && limit >= 0 && limit < 1<<15 {
		for len(x) >= 16 {
			n := min(len(x)&^15, block)
			sumWide(x[:n], y[:n], e.Gain, e.Offset, limit, &m)
			x, y = x[n:], y[n:]
			if n < block {
				break
			}
		}
	}
	sumPlain(x, y, e, limit, &m)
	return m
}

// sumPlain is the reference of Sum; it adds to m.
func sumPlain(x, y []uint16, e Exposure, limit int32, m *Moments) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		r := Abs(int32(b) - e.Apply(a))
		if r > limit || b < 256 || b > 254*256 {
			continue
		}
		u, v := int64(a>>4), int64(b>>4)
		m.N++
		m.X += u
		m.Y += v
		m.XX += u * u
		m.XY += u * v
		m.Rest += int64(r)
	}
}

// Likeness are the sums that a correlation of two blocks of cells is made of, over values in 1/16
// grey levels.
type Likeness struct{ X, Y, XX, YY, XY int64 }

// Compare sums up a block of columns x rows cells, of which the first is x[0] and y[0], and the
// next row begins pitch cells later.
func Compare(x, y []uint16, pitch, columns, rows int) Likeness {
	var l Likeness
	if columns == 8 && rows > 0 && rows <= 64 {
		n := (rows-1)*pitch + columns
		likeWide(x[:n], y[:n], pitch, rows, &l)
		return l
	}
	likePlain(x, y, pitch, columns, rows, &l)
	return l
}

// likePlain is the reference of Compare; it adds to l.
func likePlain(x, y []uint16, pitch, columns, rows int, l *Likeness) {
	for j := range rows {
		a, b := x[j*pitch:][:columns], y[j*pitch:][:columns]
		for i := range a {
			u, v := int64(a[i]>>4), int64(b[i]>>4)
			l.X += u
			l.Y += v
			l.XX += u * u
			l.YY += v * v
			l.XY += u * v
		}
	}
}
