// Package salvage carries what can be read of a damaged journal's file, or of one of an older form,
// into a new one. It trusts nothing: it reads the old file page by page (boltfile), takes what has
// a right checksum (form), and stores it anew (table), so that the indexes are right by
// construction. It removes and renames nothing; its caller, the vault, does.
//
//	account, err := salvage.File(damaged, damaged+".recovering", time.Now())
package salvage
