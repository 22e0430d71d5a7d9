package stills

import "vmsbridge/storage/stills/segment"

// compare looks for differences between a segment's index and its records. Of a segment with
// damage, the index may well list more.
func compare(path string, stored *segment.Listing, found *segment.Draft, damaged bool) []Problem {
	var r Report
	listed := map[segment.Key][]segment.Entry{}
	for _, run := range stored.Runs {
		listed[run.Key] = stored.List[run.Lo:run.Hi]
	}
	for k, e := range found.Series {
		for _, n := range e.List {
			i, ok := segment.Search(listed[k], n.Time)
			switch {
			case !ok:
				r.add(path, int64(n.Place), "still is missing in the index")
			case listed[k][i].Place != n.Place:
				r.add(path, int64(listed[k][i].Place), "index names another place than %d for a still", n.Place)
			case listed[k][i].Size != n.Size:
				r.add(path, int64(n.Place), "index gives a still %d bytes, it has %d", listed[k][i].Size, n.Size)
			}
		}
	}
	if damaged {
		return r.Problems
	}
	for k, list := range listed {
		for _, n := range list {
			if !found.Has(k, n.Time) {
				r.add(path, int64(n.Place), "index lists a still that is not there")
			}
		}
	}
	if len(stored.Notes) != len(found.Notes) {
		r.add(path, -1, "index lists %d notes, the segment has %d", len(stored.Notes), len(found.Notes))
	}
	return r.Problems
}
