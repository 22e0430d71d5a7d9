// Package audit says what is wrong with the files of a ring, and changes nothing: every record is
// read, every checksum verified, and the indexes are compared with the records. The ring's Check is
// it; repair asks it what an index lacks.
//
//	report, err := audit.Check(vfs.OS, "/var/lib/vmsbridge/stills")
//	for _, p := range report.Problems { fmt.Println(p) }
package audit
