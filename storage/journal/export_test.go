package journal

import "vmsbridge/storage/journal/schema"

// OpenChecked and RequireClean are open and requireClean for the tests that look from outside.
var (
	OpenChecked  = open
	RequireClean = requireClean
)

// ChangeRows changes a journal's rows past its methods.
func ChangeRows(j *Journal, change func(*schema.Tx) error) error { return j.file.Do(change) }
