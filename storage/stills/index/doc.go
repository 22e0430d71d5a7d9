// Package index is what memory holds of the ring: where each still is, and which gaps were noted,
// of every segment that there is. The ring tells it of what is written, found and dropped;
// questions are answered out of it, and only then is a file read. It has its own lock, waits for no
// device, and knows of a segment no more than its file's facts (segment).
//
//	x := index.New()
//	x.Adopt(seg, listing)                     // a full segment, 12 bytes a still
//	x.Add(open, draft, key, entry)            // a still of the one that is being written
//	loc, missing := x.Find(key, index.Before, at, index.Before, at)
//	if missing == nil { … read loc.Entry of loc.Seg … }
//	owed := x.Drop(seg, 1000) // notes to be written again, for what must not be forgotten with it
package index
