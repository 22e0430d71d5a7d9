package pipeline

import (
	"math"
	"slices"
)

// What sizes may say of a picture. See sizes.
const (
	learnGroups  = 16   // quiet groups that are remembered
	enoughGroups = 6    // of them, before sizes say anything
	sizeSpreads  = 5.0  // spreads from the median at which a size is another one
	leastSpread  = 0.04 // in powers of two
	sizeFalls    = 4    // times smaller than usual: the source is frozen, or the encoder has changed
	sizeNear     = 2    // places on each side whose spread is taken for a place's own, too
	// pictures behind a keyframe that refine it, and whose rise may be twice as large: what is seen
	// there is mostly seen in the keyframe, too
	refining   = 3
	smallSizes = 128 // bytes that are added, so that what has hardly any is not told apart
	// The smallest rise that shows must be no larger than what a small thing costs in such a
	// stream: 400 bytes in 640x360 (920 macroblocks). Measured with 69 motions in streams with a
	// quantiser floor: none was missed; in streams that code noise nothing qualifies.
	riseOfMacroblock = 400.0 / 920
)

// sizes knows how many bytes the pictures of a quiet scene have, by their place in the group: just
// after a keyframe they are larger. A stream is steady if even something small has to show. Its
// zero value knows nothing.
type sizes struct {
	groups [][]float64 // the newest quiet groups', in powers of two, without the keyframe
	next   int
	low    []int // bytes, by place
	high   []int
	steady bool
	noisy  bool // even the median is too large, whatever else comes
}

// learn takes the bytes of a quiet group's pictures, without the keyframe, of so many macroblocks.
func (s *sizes) learn(bytes []int, macroblocks int) {
	var group []float64
	if len(s.groups) < learnGroups {
		s.groups = append(s.groups, nil)
	} else {
		group = s.groups[s.next][:0]
	}
	for _, n := range bytes {
		group = append(group, math.Log2(float64(n+smallSizes)))
	}
	s.groups[s.next] = group
	s.next = (s.next + 1) % learnGroups
	s.judge(macroblocks)
}

// judge makes of what is known how large a picture of each place may be.
func (s *sizes) judge(macroblocks int) {
	places := 0
	for _, g := range s.groups {
		places = max(places, len(g))
	}
	var medians, own []float64
	var apart [][]float64
	for i := range places {
		if own = s.at(own[:0], i); len(own) < min(enoughGroups, len(s.groups)) {
			break
		}
		m := median(own)
		for j, v := range own {
			own[j] = math.Abs(v - m)
		}
		medians, apart = append(medians, m), append(apart, slices.Clone(own))
	}
	s.low, s.high = s.low[:0], s.high[:0]
	s.steady, s.noisy = len(medians) > 0 && len(s.groups) >= enoughGroups, false
	for i, m := range medians {
		most := riseOfMacroblock * float64(macroblocks)
		if i < refining {
			most *= 2
		}
		own = slices.Concat(apart[max(0, i-sizeNear):min(len(apart), i+sizeNear+1)]...)
		spread := max(leastSpread, 1.48*median(own))
		high := math.Exp2(m + sizeSpreads*spread)
		s.low = append(s.low, (int(math.Exp2(m))-smallSizes)/sizeFalls)
		s.high = append(s.high, int(high)-smallSizes)
		if high-math.Exp2(m) > most {
			s.steady = false
		}
		s.noisy = s.noisy || math.Exp2(m)*(math.Exp2(sizeSpreads*leastSpread)-1) > most
	}
}

// at appends what is known of a place.
func (s *sizes) at(to []float64, place int) []float64 {
	for _, g := range s.groups {
		if place < len(g) {
			to = append(to, g[place])
		}
	}
	return to
}

// fits tells whether a picture in a place, counted from 0 behind the keyframe, is as large as those
// of a quiet scene.
func (s *sizes) fits(place, bytes int) bool {
	return s.steady && place < len(s.high) && bytes <= s.high[place] && bytes >= s.low[place]
}

// median puts v in another order. It is 0 for none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	middle := len(v) / 2
	for low, high := 0, len(v)-1; low < high; { // quickselect: v[low:high+1] has the middle one
		i, j, pivot := low, high, v[(low+high)/2]
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case middle <= j:
			high = j
		case middle >= i:
			low = i
		default:
			return v[middle]
		}
	}
	return v[middle]
}
