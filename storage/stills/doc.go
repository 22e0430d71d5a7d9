// Package stills keeps JPEG stills in a ring of files on disk, so that "the image of camera X just
// before time T" is always answered and the disk never fills up. Pictures come from the agent's
// pipelines, questions from the local API. It imports nothing of ours but the file-system seam and
// package segment.
//
// Stills are appended to preallocated segments of a fixed size; deleting is dropping a whole
// segment, as a rule the oldest. Every record has its length and two checksums, and a segment that
// is full gets an index at its end, so that Open reads indexes, not pictures. The disk form, and
// what a torn tail means, is in segment/format.md. What it promises:
//
//  1. The segments never take more than MaxBytes on disk, preallocated space included.
//  2. A still is returned only if its bytes are those that were appended: the checksum is verified
//     on every Find.
//  3. Damage costs what is damaged: a bad record is skipped, a bad index is rebuilt from the
//     records, a foreign or unreadable file is left alone and counted. Open fails for none of
//     these, only for segments of a newer version.
//  4. Order of appending does not matter: a clock that jumps hides no still.
//  5. A camera that stores no more than its share keeps its last day, whatever the others store
//     (accounts.go).
//  6. A power cut costs the stills since the last flush (Options.FlushEvery), and nothing else; a
//     crash of the process costs none.
//  7. Stills stored while the clock was untrue stand at their right times once those are known, and
//     none is written anew (era.go).
//
// The Ring says which segments there are, what goes into which, and which goes when room is
// needed. The index (index.go) is what memory holds of them: where each still is, and which gaps
// were noted; it has its own lock and waits for no device. Check and Repair (check.go, mender.go)
// say what is wrong with the files, and put those in order that no program has open.
// Below them all, package segment is one file: its bytes; made, read, written, flushed, sealed,
// and read in spite of damage.
//
// An example:
//
//	ring, err := stills.Open("/var/lib/vmsbridge/stills", stills.Options{MaxBytes: 4 << 30})
//	if err != nil { return err }
//	defer ring.Close()
//	err = ring.Append(stills.Still{Camera: "100d4c41", Kind: stills.Preview, Time: now,
//		JPEG: jpeg})
//	still, err := ring.Find("100d4c41", stills.Preview, stills.Before,
//		start.Add(500*time.Millisecond))
//	var none *stills.NoneError
//	if errors.As(err, &none) { … none.Reason … }
package stills
