// Package follow lets others learn of every event that is put into a journal, each at its own pace:
// a Cursor reads the sequence of changes (format.md) from where its owner has got to, also after a
// restart, and what it has not passed is kept for it. It stands beside the outbox, of which it
// knows nothing. The journal opens cursors for those who ask, and tells them when there is
// something to read.
//
//	cursors, err := followers.Open("broker")
//	for range cursors[0].Changed() {
//		changes, err := cursors[0].Read(0, 100)      // in the order in which they were put
//		err = cursors[0].Advance(changes[len(changes)-1].Place)
//	}
package follow
