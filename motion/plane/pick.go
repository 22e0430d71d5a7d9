package plane

// Pick writes the cells with the numbers at, which ascend, to as many places.
func Pick(cells []uint16, at []int32, to []uint16) {
	n, done := len(at), 0
	if to = to[:n]; n > 0 && at[0] >= 0 && int(at[n-1]) < len(cells) {
		done = pickWide(cells, at, to)
	}
	pickPlain(cells, at[done:], to[done:])
}

// pickPlain is the reference of Pick.
func pickPlain(cells []uint16, at []int32, to []uint16) {
	to = to[:len(at)]
	for k, i := range at {
		to[k] = cells[i]
	}
}

// Flagged writes 65535 for each of the cells with the numbers at, which ascend, that has one of
// some flags, and 0 for the others.
func Flagged(flags []byte, at []int32, some byte, to []uint16) {
	n, done := len(at), 0
	if to = to[:n]; n > 0 && at[0] >= 0 && int(at[n-1]) < len(flags) {
		done = flaggedWide(flags, at, some, to)
	}
	flaggedPlain(flags, at[done:], some, to[done:])
}

// flaggedPlain is the reference of Flagged.
func flaggedPlain(flags []byte, at []int32, some byte, to []uint16) {
	to = to[:len(at)]
	for k, i := range at {
		to[k] = uint16(-int16(flags[i]&some) >> 15) // no branch to be guessed
	}
}
