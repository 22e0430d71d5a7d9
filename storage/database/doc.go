// Package database keeps the small records of a program (users, bridges) in a bbolt file that opens
// whatever is damaged. The journal has its own way; this one is for files that are read whole at a
// start. What it promises:
//
//  1. When Update returns nil, the change is on the device, in a file that its name still leads to.
//  2. A damaged file opens: it is set aside, what can be read is carried into a new one, and Damage
//     tells what was lost. So it does when the damage is found while the file is open.
//  3. What Options.Copied names is kept a second time, in path + ".copy", so that losing pages, or
//     the file, does not lose it: the copy is written after changes (within half a minute while the
//     file is small) and when the file is closed. A bit that flips in a closed file shows as a
//     difference, and the copy's record counts.
//
// The copy's form is in copy.go. Below it are guard and boltfile.
//
//	db, err := database.Open(path, database.Options{Name: "registry", Log: log})
//	if err != nil { return err }
//	defer db.Close()
//	err = db.Update(func(tx *bolt.Tx) error { … })
package database
