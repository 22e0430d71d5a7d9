// Package confine takes from a decoder process what it has no use for: files, addresses, other
// processes, and more memory than its pictures need. The C libraries in it read hostile streams;
// whoever takes one over finds nothing to go on with. agent/codec calls it in the process:
//
//	held := confine.Begin(false)          // before any C library is loaded
//	…                                     // load the libraries and test them
//	held = held.Seal(confine.Limits{})    // before the first byte of a camera is read
//
// and CloseMemory and CloseOnExec in the program that starts the processes. Begin and Seal are
// called on one thread, locked to it, on which all C code then runs: Landlock holds for a thread
// and those that it starts; the rest for the process. Own code, and not a module for each: together
// they are as long as what is left out of them, and they know the arguments of calls (a signal to
// oneself, a thread and not a process), which the modules' lists do not.
package confine

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Report says what holds a decoder process, and what this machine's kernel lacks.
type Report struct {
	InForce []string `json:"inForce"`
	Missing []string `json:"missing"` // each with its reason
}

// String is the report as a line.
func (r Report) String() string {
	line := "nothing"
	if len(r.InForce) > 0 {
		line = strings.Join(r.InForce, ", ")
	}
	if len(r.Missing) > 0 {
		line += "; missing: " + strings.Join(r.Missing, ", ")
	}
	return line
}

// Note adds what is in force, or what is missing if err says why.
func (r *Report) Note(what string, err error) {
	if err != nil {
		r.Missing = append(r.Missing, fmt.Sprintf("%s (%v)", what, err))
		return
	}
	r.InForce = append(r.InForce, what)
}

// Limits of a sealed process.
type Limits struct {
	// MoreMemory is how many bytes of addresses it may still map; 0: no limit.
	MoreMemory uint64
}

// The names in a Report.
const (
	noNewPrivileges = "no_new_privs"
	systemCalls     = "seccomp"
	landlock        = "Landlock"
	limits          = "limits of memory, processes and files"
)

// Begun is a process between Begin and Seal.
type Begun struct {
	privileges error
	devices    bool
}

// maxTasks bounds the threads and processes of the user that the bridge runs as, the agent's own
// included: more than a bridge of hundreds of cameras has, and less than a machine breaks down by.
const maxTasks = 4096

// Begin takes what a process does not need that is about to load its libraries: new privileges, the
// network, other processes, writing. With devices, for decoders in hardware, it may open, and speak
// to, what is below /dev, and read what is below /sys, before and after Seal. What cannot be had is
// told by Seal.
func Begin(devices bool) Begun {
	b := Begun{privileges: unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), devices: devices}
	lower(unix.RLIMIT_CORE, 0)
	lower(unix.RLIMIT_FSIZE, 0)
	lower(unix.RLIMIT_NPROC, maxTasks)
	lower(unix.RLIMIT_NOFILE, 256)
	if b.privileges == nil {
		_, _ = restrict(allButReading, devices)
		_ = filter(loading(devices))
	}
	return b
}

// Seal leaves a process what decoding needs: the pipes that it has, memory, its own threads, the
// clock.
func (b Begun) Seal(l Limits) Report {
	r := Report{InForce: []string{}, Missing: []string{}}
	r.Note(noNewPrivileges, b.privileges)
	limited := limitMemory(l.MoreMemory) // it opens a file, as Landlock's next step does
	calls := b.privileges
	if b.privileges != nil {
		r.Note(landlock, b.privileges)
	} else if version, err := restrict(everything, b.devices); err != nil {
		r.Note(landlock, err)
	} else {
		r.Note(fmt.Sprintf("%s %d%s", landlock, version, b.but()), nil)
	}
	if !b.devices {
		limited = errors.Join(limited, lower(unix.RLIMIT_NOFILE, 0))
	}
	if calls == nil {
		calls = filter(decoding(b.devices))
	}
	r.Note(systemCalls+b.but(), calls)
	r.Note(limits, limited)
	return r
}

// but is what a report says that is left to a process with devices.
func (b Begun) but() string {
	if b.devices {
		return " but for devices"
	}
	return ""
}

// limitMemory bounds what may be mapped from now on: Go's reservations, and those of the race
// detector, are made already.
func limitMemory(more uint64) error {
	if more == 0 {
		return nil
	}
	mapped, err := mappedBytes()
	if err != nil {
		return err
	}
	return lower(unix.RLIMIT_AS, mapped+more)
}

// mappedBytes is the size of this process's address space.
func mappedBytes() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return 0, fmt.Errorf("read /proc/self/statm: %w", err)
	}
	return pages * uint64(os.Getpagesize()), nil
}

// lower sets a limit, soft and hard, unless it is lower already.
func lower(resource int, to uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return fmt.Errorf("read limit %d: %w", resource, err)
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: min(to, now.Cur), Max: min(to, now.Max)}); err != nil {
		return fmt.Errorf("set limit %d: %w", resource, err)
	}
	return nil
}

// CloseMemory keeps other processes of the same user from reading this one's memory, environment
// and open files, and from tracing it. It also means: no core dumps, and tracers and profilers from
// outside (perf, gdb) only for root.
func CloseMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// CloseOnExec keeps what this process itself inherited from going on to those that it starts. What
// it opens by itself does not go on in any case.
func CloseOnExec() {
	const first = 3
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	list, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return
	}
	for _, e := range list {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}
