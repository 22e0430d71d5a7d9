//go:build !purego

package plane

// hasPairs tells whether there are vectors that take the cells of two rows at once.
func hasPairs() bool { return hasAVX2 }

// measurePairWide is measureWide for two rows at once; solid and moved tell in which cells of row
// y, in the lower 16 bits, and of the row below there is such a cell.
//
//go:noescape
func measurePairWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved uint32)

// tracePairWide is traceWide for two rows at once, which have two rows above and below.
//
//go:noescape
func tracePairWide(v *Views, x, y, n int, s *Sums) (done int)

// slopesWide is slopesPlain for an even number of points; without these vectors for none.
//
//go:noescape
func slopesWide(points []Point, s *Slopes) (done int)
