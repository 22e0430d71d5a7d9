package plane

// Sums are the sums over cells, each in parts that are added up by its methods. Parts of 16 bits
// hold the cells of a whole picture, as each takes those of one column of eight.
type Sums struct {
	Cells, Gone, Fore, Creep, Moved, Now [16]uint16
	Stirs                                [16]uint16 // of what moved or was newly taken
	Inner, Ends, Torn, Sharp, Own, Lost  [16]uint16
	// of the solid cells, and of those that moved; to the last cell, not beyond it
	Left, Right, MovedLeft, MovedRight [16]int16

	Weight, MovedWeight, Limit, NowWeight [8]uint32
	// of what differs from the background: by how much, of that how much it is brighter, and the
	// thresholds
	ForeWeight, Brighter, ForeLimit [8]uint32
	Worn                            [8]uint32 // of what moved
	SquareLow, SquareHigh           [8]uint32 // of the squares of MovedWeight, the lower and the upper 16 bits
	ForeX, ForeY, MovedX, MovedY    [8]uint32

	Top, Bottom, MovedTop, MovedBottom int // as Left and Right
}

// Reset makes them the sums of nothing.
func (s *Sums) Reset() {
	const far = 1<<15 - 1
	*s = Sums{} // in place: with other values it would be made elsewhere first
	s.Top, s.Bottom, s.MovedTop, s.MovedBottom = far, -1, far, -1
	s.Left = [16]int16{far, far, far, far, far, far, far, far, far, far, far, far, far, far, far, far}
	s.Right = [16]int16{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
	s.MovedLeft, s.MovedRight = s.Left, s.Right
}

// Count adds up a sum of 16 bits.
func Count(p *[16]uint16) int {
	low := int(p[0]) + int(p[1]) + int(p[2]) + int(p[3]) + int(p[4]) + int(p[5]) + int(p[6]) + int(p[7])
	return low + int(p[8]) + int(p[9]) + int(p[10]) + int(p[11]) + int(p[12]) + int(p[13]) + int(p[14]) + int(p[15])
}

// Total adds up a sum of 32 bits.
func Total(parts *[8]uint32) int64 {
	sum := int64(0)
	for _, p := range parts {
		sum += int64(p)
	}
	return sum
}
