package clock

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Machine is the clock of the machine. System is the real one.
type Machine interface {
	// BootID tells this boot from others; "" if that cannot be known.
	BootID() string
	// Boot is the time since boot, also while the machine slept (CLOCK_BOOTTIME). It never steps.
	Boot() time.Duration
	// Read reads both clocks at one moment.
	Read() Reading
}

// Reading is what a machine's clocks showed at one moment.
type Reading struct {
	Wall time.Time // which may be wrong, and step
	Boot time.Duration
	// Raw is how long the machine's oscillator has been counting, which nobody corrects
	// (CLOCK_MONOTONIC_RAW); 0 if that is not known.
	Raw time.Duration
	// Synced says that the kernel counts the wall clock as synchronised: STA_UNSYNC is not set
	// (adjtimex(2)).
	Synced bool
	// Kept says that the kernel set the wall clock at the boot from one that ran on while the
	// machine was off (RTC).
	Kept bool
}

// BootVariable is the environment variable with the boot's id, for where /proc does not show it;
// systemd's specifier %b is that.
const BootVariable = "VMSBRIDGE_BOOT_ID"

// System is this machine's clock.
func System() Machine {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	boot := strings.TrimSpace(string(id))
	if boot == "" {
		boot = os.Getenv(BootVariable)
	}
	return &machine{boot: strings.ReplaceAll(boot, "-", ""), began: time.Now(), kept: kept("/sys/class/rtc")}
}

// kept reports whether one of the clocks in a folder of the kernel's has set the wall clock: see
// hctosys in its Documentation/ABI/testing/sysfs-class-rtc.
func kept(folder string) bool {
	clocks, _ := filepath.Glob(filepath.Join(folder, "*", "hctosys"))
	return slices.ContainsFunc(clocks, func(name string) bool {
		said, _ := os.ReadFile(name)
		return strings.TrimSpace(string(said)) == "1"
	})
}

type machine struct {
	boot  string
	kept  bool
	began time.Time // whose monotonic clock Boot goes by

	ahead atomic.Int64 // of the boot time, to that clock
	wall  atomic.Int64 // of the wall clock, to that clock, when ahead was read; 0: it was not
}

func (m *machine) BootID() string { return m.boot }

// Built is when the program was built, as far as it knows: no true time is before it.
func Built() time.Time {
	least := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return least
	}
	for _, s := range info.Settings {
		if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil && t.After(least) {
			// The commit may carry the time of a clock that was ahead.
			return t.Add(-24 * time.Hour)
		}
	}
	return least
}
