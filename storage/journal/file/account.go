package file

// Account is what was carried over, and what was lost.
type Account struct {
	// Events, Waiting and Parked are what the new journal holds.
	Events, Waiting, Parked int
	// LostPages is how many pages (or runs of them) could not be read, DamagedValues how many
	// values had a wrong checksum.
	LostPages, DamagedValues int
	// Requeued is how many events wait again because it is unknown whether the service has them.
	// Reporting an event again replaces it, so nothing is doubled.
	Requeued int
}
