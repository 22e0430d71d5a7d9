package stills

// compare looks for differences between a segment's index and its records. Of a segment with damage, the index may well
// list more.
func compare(path string, stored *listing, found *draft, damaged bool) []Problem {
	var r Report
	listed := map[seriesKey][]entry{}
	for _, run := range stored.runs {
		listed[run.key] = stored.list[run.lo:run.hi]
	}
	for k, e := range found.series {
		for _, n := range e.list {
			i, ok := search(listed[k], n.time)
			switch {
			case !ok:
				r.add(path, int64(n.place), "still is missing in the index")
			case listed[k][i].place != n.place:
				r.add(path, int64(listed[k][i].place), "index names another place than %d for a still", n.place)
			case stored.version > 1 && listed[k][i].size != n.size:
				r.add(path, int64(n.place), "index gives a still %d bytes, it has %d", listed[k][i].size, n.size)
			}
		}
	}
	if damaged {
		return r.Problems
	}
	for k, list := range listed {
		for _, n := range list {
			if !found.has(k, n.time) {
				r.add(path, int64(n.place), "index lists a still that is not there")
			}
		}
	}
	if len(stored.notes) != len(found.notes) {
		r.add(path, -1, "index lists %d notes, the segment has %d", len(stored.notes), len(found.notes))
	}
	return r.Problems
}
