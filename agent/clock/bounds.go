package clock

import "time"

// bounds says how far the scale is behind the time of the service, from the Date of its answers
// (RFC 9110 §6.6.1). A Date is cut to the second: the answer was made in that second, after the
// request was sent and before the answer came. Each answer so bounds the difference from both
// sides, and all together bound it closely. The zero value knows nothing.
type bounds struct {
	known  bool
	lo, hi time.Duration
}

// dateWide is how far a service's own clock may be beside the bounds before they are begun anew: it
// was set, or the scale drifts.
const dateWide = 50 * time.Millisecond

// take adds an answer. sent and came are of the scale.
func (b *bounds) take(date, sent, came time.Time) {
	lo, hi := date.Sub(came), date.Add(time.Second).Sub(sent)
	if !b.known || lo > b.hi+dateWide || hi < b.lo-dateWide {
		*b = bounds{true, lo, hi}
		return
	}
	b.lo, b.hi = max(b.lo, lo), min(b.hi, hi)
	if b.lo > b.hi { // by less than dateWide
		b.lo, b.hi = b.hi, b.lo
	}
}

// middle is the best guess; it is wrong by no more than within.
func (b *bounds) middle() (by, within time.Duration) { return (b.lo + b.hi) / 2, (b.hi - b.lo) / 2 }
