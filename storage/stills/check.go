package stills

import (
	"vmsbridge/storage/stills/repair"
	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// Report is what Check and Repair found.
type Report = repair.Report

// Problem is something that is not as it should be.
type Problem = repair.Problem

// VersionError says that a ring was written by a newer program. Nothing was changed.
type VersionError = segment.VersionError

// Check reads every record of the ring in dir, verifies the checksums, and compares the records
// with the indexes. It changes nothing and takes no lock: beside a running agent it may meet a
// segment that is being written or dropped just then, and is then not to be taken at its word. What
// is wrong is in the Report, also what the device does not give; the error is that of a folder that
// cannot be read, or a *VersionError.
func Check(dir string) (Report, error) { return repair.Check(vfs.OS, dir) }
