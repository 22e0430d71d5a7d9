//go:build !linux

package clock

import "time"

var began = time.Now()

// Boot counts from the start of the process where there is no CLOCK_BOOTTIME.
func (*machine) Boot() time.Duration { return time.Since(began) }

// Read never says that the clock is synchronised.
func (m *machine) Read() Reading { return Reading{Wall: time.Now().Round(0).UTC(), Boot: m.Boot()} }
