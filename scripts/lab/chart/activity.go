package chart

import "time"

// bins is how many values an Activity keeps: more than a chart has columns, whatever the length of
// a recording.
const bins = 8192

// Activity is the share of the picture that moves, over time, in memory that does not grow with the
// length: when it is full, two neighbours become one, of which the larger value stays. Its zero
// value is ready.
type Activity struct {
	width  time.Duration // of a bin
	values []float32     // -1 where there was no picture
	last   time.Duration
}

// Add takes the share at a time; times rise.
func (a *Activity) Add(at time.Duration, share float64) {
	if a.width == 0 {
		a.width, a.values = 5*time.Millisecond, make([]float32, 0, bins)
	}
	a.last = at
	for at/a.width >= bins {
		n := (len(a.values) + 1) / 2
		for i := range n {
			v := a.values[2*i]
			if 2*i+1 < len(a.values) {
				v = max(v, a.values[2*i+1])
			}
			a.values[i] = v
		}
		a.values, a.width = a.values[:n], 2*a.width
	}
	i := int(at / a.width)
	for len(a.values) <= i {
		a.values = append(a.values, -1)
	}
	a.values[i] = max(a.values[i], float32(share))
}

// held is how long a value stands for the time after it: a longer time without pictures is drawn as
// one.
const held = 1500 * time.Millisecond

// most is the largest value from one time to another; where no picture fell into it, the one
// before. Less than 0: nothing is known.
func (a *Activity) most(from, to time.Duration) float64 {
	if len(a.values) == 0 {
		return -1
	}
	first, end := int(from/a.width), int((to+a.width-1)/a.width)
	top := float32(-1)
	for i := max(0, first); i < min(end, len(a.values)); i++ {
		top = max(top, a.values[i])
	}
	for i := min(first, len(a.values)) - 1; top < 0 && i >= 0 && time.Duration(first-i)*a.width <= held; i-- {
		top = a.values[i]
	}
	return float64(top)
}
