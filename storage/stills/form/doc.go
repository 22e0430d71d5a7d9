// Package form is the form of the ring's files: the ends of a segment, its records, its index, its
// name, and the shift of an era, as format.md describes them. It turns stills and notes into bytes
// and back, checks the bytes, and reads and writes no file; everything else of the ring stands on
// it. How a file is read is segment's, what to keep is the ring's.
//
//	key := form.Key{Camera: "100d4c41", Kind: form.Preview}
//	p = form.AppendRecord(p, form.StillRecord(key, at, jpeg), key.Camera, jpeg, block.Salt, place)
//	r, err := form.DecodeRecord(p, block.Salt, place, limit)   // checks the header
//	camera, body, err := r.Payload(p[form.RecordHead:])        // and what comes behind it
//
// Times are nanoseconds since 1970-01-01 UTC. A Draft is the index of a segment that is being
// written, a Listing that of a full one.
package form
