//go:build !amd64 || purego

package plane

// Rows are taken one by one here.

func hasPairs() bool { return false }

func measurePairWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved uint32) { return 0, 0, 0 }

func tracePairWide(v *Views, x, y, n int, s *Sums) (done int) { return 0 }

func slopesWide(points []Point, s *Slopes) (done int) { return 0 }
