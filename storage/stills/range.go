package stills

import (
	"fmt"
	"time"

	"vmsbridge/storage/stills/segment"
)

// Frame is a still without its picture, for a timeline.
type Frame struct {
	Time time.Time
	Kind Kind
	Size int // bytes of the JPEG
}

// RangeMost is how many frames Range gives at most.
const RangeMost = 10_000

// Range lists the stills of a camera from from to to, both included, in order of time, without
// reading a picture. Kind 0 means both kinds. At most limit are listed, and no more than RangeMost;
// then more is true, and the next page begins a nanosecond behind the last one's time: stills of
// one time are never parted, so with both kinds a page may hold one more than limit. Stills may be
// dropped between two pages. A damaged still is listed until somebody tries to read it.
func (r *Ring) Range(camera string, k Kind, from, to time.Time, limit int) (list []Frame, more bool, err error) {
	if err := segment.CheckCamera(camera); err != nil {
		return nil, false, fmt.Errorf("list stills: %w", err)
	}
	kinds := []Kind{k}
	if k == 0 {
		kinds = []Kind{Preview, Main}
	} else if err := segment.CheckKind(k); err != nil {
		return nil, false, fmt.Errorf("list stills of %q: %w", camera, err)
	}
	if limit < 1 || limit > RangeMost {
		limit = RangeMost
	}
	all := r.index.Between(camera, kinds, segment.ClampNanos(from), segment.ClampNanos(to), limit+1)
	for i, f := range all {
		if i >= limit && f.Time != all[i-1].Time {
			return list, true, nil
		}
		list = append(list, Frame{segment.Time(f.Time), f.Kind, int(f.Size)})
	}
	return list, false, nil
}
