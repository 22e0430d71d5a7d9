// Package activity keeps, in a small file beside the journal's, when the events that go on were
// last known to do so, so that a crash costs the end of a span no more than the time since the last
// note. A note of all spans, each second in which something moves, is one write of a page in place,
// where a transaction of the journal writes several and waits for two flushes.
//
//	journal, for each Touch → Log → at the next Open: journal
//
// The journal takes over what stands here when it is closed, or opened after a crash, and then the
// file goes. Whatever of it is damaged is passed over: the span then ends at the note before.
//
// The file is two halves of 128 KiB, written by turns. A half begins with a record of all events
// that go on; records of what has changed follow. Of several times of an event the latest counts,
// so that it does not matter which half is newer, nor what stands behind a half's last record from
// the turn before.
//
//	record: length of what follows the checksum (4), its CRC-32C (4), then for each event: length of
//	the id (2), id, milliseconds since 1970 (8)
//
// Numbers are big-endian.
package activity
