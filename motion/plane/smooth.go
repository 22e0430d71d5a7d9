package plane

// Smooth writes what each value of b and its neighbours a and c are together, weighed 1 2 1 and
// rounded. To may be b, or begin elsewhere.
func Smooth(to, a, b, c []uint16) {
	n := len(to)
	a, b, c = a[:n], b[:n], c[:n]
	done := smoothWide(to, a, b, c)
	smoothPlain(to[done:], a[done:], b[done:], c[done:])
}

// smoothPlain is the reference of Smooth.
func smoothPlain(to, a, b, c []uint16) {
	for i := range to {
		to[i] = uint16((uint32(a[i]) + 2*uint32(b[i]) + uint32(c[i]) + 2) >> 2)
	}
}

// Share writes share/65536 of each value, rounded down.
func Share(to, from []uint16, share uint16) {
	from = from[:len(to)]
	done := shareWide(to, from, share)
	sharePlain(to[done:], from[done:], share)
}

// sharePlain is the reference of Share.
func sharePlain(to, from []uint16, share uint16) {
	for i := range to {
		to[i] = uint16(uint32(from[i]) * uint32(share) >> 16)
	}
}
