package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Of the kernel's include/uapi/linux/timex.h.
const (
	staUnsync = 0x40
	timeError = 5
)

// Boot is CLOCK_BOOTTIME.
func (machine) Boot() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0 // it is there since Linux 2.6.39
	}
	return time.Duration(ts.Nano())
}

func raw() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Read takes the boot time before and after the wall time and believes the middle of a reading that was not interrupted.
func (m machine) Read() (r Reading) {
	for range 5 {
		before := m.Boot()
		r.Wall = time.Now().Round(0).UTC()
		r.Raw = raw()
		after := m.Boot()
		r.Boot = before + (after-before)/2
		if after-before < time.Millisecond {
			break
		}
	}
	var t unix.Timex // modes 0: it only reads
	state, err := unix.Adjtimex(&t)
	r.Synced = err == nil && state != timeError && t.Status&staUnsync == 0
	return r
}
