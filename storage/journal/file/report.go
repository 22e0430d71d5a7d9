package file

import "vmsbridge/storage/guard"

// Report is what Check found.
type Report struct {
	Events, Ongoing, Waiting, Parked int
	guard.Report
}
