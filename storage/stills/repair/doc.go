// Package repair says what is wrong with the files of a ring, and puts them in order. Check changes
// nothing: every record is read, every checksum verified, and the indexes are compared with the
// records.
//
//	report, err := repair.Check(vfs.OS, "/var/lib/vmsbridge/stills")
//	for _, p := range report.Problems { fmt.Println(p) }
//
// A Mender puts the files of a ring in order that no program has open, each in its place:
// ends, damaged stretches, indexes, names. It throws nothing away; what it cannot use goes to the
// folder aside. What has no place any more it hands back as wrecks, whose stills the ring copies
// before they go aside too: that is all of a repair for which a ring must be open, and stands with
// the ring (salvage.go).
//
//	m := repair.New(vfs.OS, dir)
//	wrecks, err := m.InPlace()
//	for _, w := range wrecks { m.Hide(w) … m.Read(w, copy) … m.Discard(w, copied, had) }
//	for _, sentence := range m.Done { fmt.Println(sentence) }
package repair
