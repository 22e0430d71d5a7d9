package model_test

import (
	"fmt"
	"time"

	"vmsbridge/uplink/identity/model"
)

// Quiet hours in the zone of the account.
func ExampleZone() {
	zone := model.Zone(model.DefaultZone)
	fmt.Println(time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC).In(zone).Format(time.TimeOnly))
	// Output: 12:00:00
}
