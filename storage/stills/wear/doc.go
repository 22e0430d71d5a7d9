// Package wear counts what the ring writes to the device, ever and in the last day, and says how
// long a card lasts at that rate. The ring tells it of every flush; the status page shows what it
// says.
//
//	var meter wear.Meter
//	meter.Add(256<<10, uptime)
//	total, perDay := meter.PerDay(uptime)
//	lasts := wear.Life(wear.Cycles*capacity, perDay)
package wear
