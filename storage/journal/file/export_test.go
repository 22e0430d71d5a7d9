package file

// For the tests of what a check and a recovery find in files that no program has open.
var (
	CheckClosed = checkClosed
	FormOf      = formOf
	CheckOutbox = checkOutbox
	CheckPages  = checkPages
	Salvage     = salvage
)
