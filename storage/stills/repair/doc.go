// Package repair puts the files of a ring in order that no program has open, each in its place:
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
