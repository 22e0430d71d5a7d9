// Package archive is what the bridge keeps on its disk, and how it is written. Events of the
// pipelines go into the journal (EventWriter), their stills into the ring (StillWriter); neither
// makes a camera wait for a disk. Around them stand what the start finds (spans that the last run
// left open), what the clock moves when it becomes true, and what has become too old or too much.
//
//	s, err := archive.Open(archive.Options{Config: running, Clock: c, Operations: ops, Timer: timer, …})
//	go s.Write(ctx)
//	s.Events.Put(ev) // returns at once
package archive
