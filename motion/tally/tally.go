package tally

// Same is the step from a value to itself.
const Same = 256

// None is in Steps what does not count.
const None = 65535

// Steps writes by how much each y is above its x, in whole steps of 256 rounded down and beyond
// Same: 0 to 511. Where skip is None it writes None. All slices have the length of the first.
func Steps(x, y, skip, to []uint16) {
	n := len(x)
	y, skip, to = y[:n], skip[:n], to[:n]
	done := stepsWide(x, y, skip, to)
	stepsPlain(x[done:], y[done:], skip[done:], to[done:])
}

// stepsPlain is the reference of Steps.
func stepsPlain(x, y, skip, to []uint16) {
	for i, v := range x {
		to[i] = uint16((int32(y[i])-int32(v))>>8+Same) | skip[i]
	}
}

// Without writes each value of from, or 0 where skip is None.
func Without(to, from, skip []uint16) {
	n := len(to)
	from, skip = from[:n], skip[:n]
	done := withoutWide(to, from, skip)
	withoutPlain(to[done:], from[done:], skip[done:])
}

// withoutPlain is the reference of Without.
func withoutPlain(to, from, skip []uint16) {
	for i, v := range from {
		to[i] = v &^ skip[i]
	}
}

// AtMost is how many values that count are not above limit, which is less than None.
func AtMost(values, skip []uint16, limit uint16) (found int) {
	const block = 1 << 16 // values, so that no count overflows in the vector loop
	skip = skip[:len(values)]
	for len(values) >= 16 {
		n := min(len(values)&^15, block)
		found += atMostWide(values[:n], skip[:n], limit)
		values, skip = values[n:], skip[n:]
	}
	return found + atMostPlain(values, skip, limit)
}

// atMostPlain is the reference of AtMost.
func atMostPlain(values, skip []uint16, limit uint16) (found int) {
	for i, v := range values {
		if v|skip[i] <= limit {
			found++
		}
	}
	return found
}

// Least is the smallest level at which at least need values that count are not above it, of which
// each has bits bits of its own below: the level of v is v>>bits. The level top is known to be
// enough. It is looked for from guess on, so that a good guess is found at once.
func Least(values, skip []uint16, bits, need, guess, top int) int {
	low, high := -1, top
	below, above := false, false
	at, step := max(0, min(guess, top-1)), 1
	for high-low > 1 {
		if AtMost(values, skip, uint16(at<<bits|(1<<bits-1))) >= need {
			high, above = at, true
		} else {
			low, below = at, true
		}
		switch {
		case below && above:
			at = (low + high) / 2
		case below:
			at = min(low+step, high-1)
		default:
			at = max(high-step, low+1)
		}
		step *= 4
	}
	return high
}
