package plane

// Point is a cell by which it is told whether the camera looks elsewhere: R is its difference from
// the background, Size what that was before it was cut, X and Y are the background's gradient. All
// are within -1<<17..1<<17.
type Point struct{ R, Size, X, Y int32 }

// Slopes are the sums over points from which a shift is found by least squares: of R, Size, X and
// Y, of the size of R (Rest), and of products. They hold 1<<13 points.
type Slopes struct {
	R, Size, X, Y, Rest    int32
	RR, XX, XR, YR, XY, YY int64
}

// SumSlopes adds up points.
func SumSlopes(points []Point) Slopes {
	var s Slopes
	done := slopesWide(points, &s)
	slopesPlain(points[done:], &s)
	return s
}

// slopesPlain is the reference of SumSlopes; it adds to s.
func slopesPlain(points []Point, s *Slopes) {
	for _, p := range points {
		s.R, s.Size, s.X, s.Y, s.Rest = s.R+p.R, s.Size+p.Size, s.X+p.X, s.Y+p.Y, s.Rest+Abs(p.R)
		r, x, y := int64(p.R), int64(p.X), int64(p.Y)
		s.RR, s.XX, s.XR, s.YR, s.XY, s.YY = s.RR+r*r, s.XX+x*x, s.XR+x*r, s.YR+y*r, s.XY+x*y, s.YY+y*y
	}
}
