// Package audit reads a journal's file and says what is wrong with it: the pages, the checksums,
// and whether the indexes, the outbox and the sequence of changes agree with the events. It changes
// nothing. A start looks at Metas, Form, Outbox and, after an unclean end, at Pages; who asks gets
// a Report of everything, from Open while the journal runs and from Closed while it does not.
//
//	report, err := audit.Closed(path)
//	if err == nil && !report.Clean() { fmt.Println(report.Problems) }
package audit
