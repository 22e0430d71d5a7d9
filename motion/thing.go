package motion

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// thing is a track in a span: where it was when most of it was in sight. The border of the picture
// cuts things: half as many cells count there.
type thing struct {
	track int
	cells int
	box   Box
	at    time.Time
}

// meet takes what is in sight in one picture into the things of a span. Of more than maxBoxes the
// largest stay.
func meet(known, seen []thing) []thing {
	for _, s := range seen {
		i := slices.IndexFunc(known, func(k thing) bool { return k.track == s.track })
		if i < 0 && len(known) < maxBoxes {
			known = append(known, s)
			continue
		}
		if i < 0 {
			i = smallest(known)
		}
		if s.cells > known[i].cells {
			known[i] = s
		}
	}
	return known
}

// largest is how many cells of the largest of the things are in sight.
func largest(things []thing) int {
	most := 0
	for _, t := range things {
		most = max(most, t.cells)
	}
	return most
}

func smallest(things []thing) int {
	least := 0
	for i := range things {
		if things[i].cells < things[least].cells {
			least = i
		}
	}
	return least
}

// objectsOf is what a Change tells of the things, in a slice of its own.
func objectsOf(things []thing) []Object {
	if len(things) == 0 {
		return nil
	}
	ordered := slices.Clone(things)
	slices.SortStableFunc(ordered, func(a, b thing) int { return cmp.Compare(b.cells, a.cells) })
	objects := make([]Object, len(ordered))
	for i, t := range ordered {
		objects[i] = Object{ID: strconv.Itoa(t.track), Box: t.box, Time: t.at}
	}
	return objects
}
