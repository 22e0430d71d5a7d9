package health

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Machine is what the bridge's machine has and how busy it is, as far as the machine tells.
type Machine struct {
	Processors  int     `json:"processors"`
	Load        float64 `json:"load"`                         // how many wanted a processor in the last minute
	Memory      int64   `json:"memoryBytes"`                  // 0: unknown, as of what follows
	MemoryFree  int64   `json:"memoryFreeBytes,omitempty"`    // what programs may still have
	Temperature float64 `json:"temperatureCelsius,omitempty"` // of the hottest part
	// CardUsed is how much of its life the eMMC that holds the data has used at most, by its own
	// register, in percent; more than 100 is beyond it.
	CardUsed int `json:"cardUsedPercent,omitempty"`
}

// MachineOf is the machine whose disk holds a folder.
func MachineOf(dir string) Machine {
	m := Machine{Processors: runtime.NumCPU()}
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		m.Load, m.Memory = float64(info.Loads[0])/(1<<16), int64(info.Totalram)*int64(info.Unit)
	}
	var st unix.Stat_t
	if unix.Stat(dir, &st) == nil {
		m.read("/", fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))))
	}
	return m
}

// read takes what stands in files below root; device is the number of the disk. Of what is not
// there, as /proc/meminfo under systemd's ProcSubset, nothing is known.
func (m *Machine) read(root, device string) {
	text, _ := os.ReadFile(root + "proc/meminfo")
	for line := range bytes.Lines(text) {
		var kB int64
		if n, _ := fmt.Sscanf(string(line), "MemAvailable: %d kB", &kB); n == 1 {
			m.MemoryFree = kB << 10
		}
	}
	zones, _ := filepath.Glob(root + "sys/class/thermal/thermal_zone*/temp")
	for _, zone := range zones {
		text, _ := os.ReadFile(zone)
		if milli, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil {
			m.Temperature = max(m.Temperature, float64(milli)/1000)
		}
	}
	for _, up := range []string{"", "../"} { // of a disk, of a partition; the kernel follows the link first
		text, _ := os.ReadFile(root + "sys/dev/block/" + device + "/" + up + "device/life_time")
		for _, field := range bytes.Fields(text) { // 0x01: up to a tenth … 0x0b: more than all; 0x00: unknown
			tenths, _ := strconv.ParseUint(string(field), 0, 8)
			m.CardUsed = max(m.CardUsed, 10*int(tenths))
		}
	}
}
