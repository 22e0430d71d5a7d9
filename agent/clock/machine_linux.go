package clock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Of the kernel's include/uapi/linux/timex.h.
const (
	staUnsync = 0x40
	timeError = 5
)

// wallMoves is by how much the wall clock may move against the monotonic one, until the boot time
// is read from the kernel again.
const wallMoves = int64(time.Millisecond)

// Boot is CLOCK_BOOTTIME, which is asked for several times a packet. The monotonic clock, which the
// kernel shows without a system call, goes beside it, but for the time that the machine sleeps,
// which the wall clock does show.
func (m *machine) Boot() time.Duration {
	mono, wall := m.monotonic()
	if was := m.wall.Load(); was == 0 || wall-was > wallMoves || was-wall > wallMoves {
		m.read()
	}
	return time.Duration(mono + m.ahead.Load())
}

// monotonic is the monotonic clock since the start, and by how much the wall clock is ahead of it.
func (m *machine) monotonic() (mono, wall int64) {
	now := time.Now()
	mono = int64(now.Sub(m.began))
	return mono, now.UnixNano() - mono
}

// read notes how far the boot time is ahead. What reading takes is no reason to change it: the time
// never goes back.
func (m *machine) read() {
	var ahead, wall int64
	for range 5 {
		var before, after int64
		before, wall = m.monotonic()
		boot := int64(bootTime())
		after, _ = m.monotonic()
		ahead = boot - before - (after-before)/2
		if after-before < int64(100*time.Microsecond) {
			break
		}
	}
	if was := m.ahead.Load(); was == 0 || ahead-was > wallMoves {
		m.ahead.Store(ahead)
	}
	m.wall.Store(wall)
}

func bootTime() time.Duration { return gettime(unix.CLOCK_BOOTTIME) } // it is there since Linux 2.6.39

func raw() time.Duration { return gettime(unix.CLOCK_MONOTONIC_RAW) }

// gettime is 0 for a clock that is not there. Go's scheduler is not told of the call, which does
// not wait: it would wake the thread that watches those that do, which then looks sixty times
// whether there is another.
func gettime(clock uintptr) time.Duration {
	var ts unix.Timespec
	if _, _, code := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0); code != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Read takes the boot time before and after the wall time and believes the middle of a reading that
// was not interrupted.
func (m *machine) Read() (r Reading) {
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
	state, _, code := unix.RawSyscall(unix.SYS_ADJTIMEX, uintptr(unsafe.Pointer(&t)), 0, 0)
	r.Kept = m.kept
	r.Synced = code == 0 && state != timeError && t.Status&staUnsync == 0
	return r
}
