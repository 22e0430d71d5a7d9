package health

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a board tells of itself is found below /proc and /sys; what it does not tell is unknown.
func TestMachine(t *testing.T) {
	root := t.TempDir() + "/"
	put := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(root+path), 0o700))
		require.NoError(t, os.WriteFile(root+path, []byte(text), 0o600))
	}
	var m Machine
	m.read(root, "179:2")
	require.Zero(t, m)
	put("proc/meminfo", "MemTotal:        1896624 kB\nMemFree:          101012 kB\nMemAvailable:    1024000 kB\n")
	put("sys/class/thermal/thermal_zone0/temp", "51234\n")
	put("sys/class/thermal/thermal_zone1/temp", "48000\n")
	put("sys/class/thermal/thermal_zone2/temp", "not measured\n")
	put("sys/devices/mmc0/block/mmcblk0/device/life_time", "0x02 0x03\n")
	put("sys/devices/mmc0/block/mmcblk0/mmcblk0p2/dev", "179:2\n")
	require.NoError(t, os.MkdirAll(root+"sys/dev/block", 0o700))
	require.NoError(t, os.Symlink("../../devices/mmc0/block/mmcblk0/mmcblk0p2", root+"sys/dev/block/179:2"))
	require.NoError(t, os.Symlink("../../devices/mmc0/block/mmcblk0", root+"sys/dev/block/179:0"))
	want := Machine{MemoryFree: 1024000 << 10, Temperature: 51.234, CardUsed: 30}
	for _, device := range []string{"179:2", "179:0"} {
		m = Machine{}
		m.read(root, device)
		require.Equal(t, want, m, device)
	}
	put("sys/devices/mmc0/block/mmcblk0/device/life_time", "0x00 nonsense\n")
	m = Machine{}
	m.read(root, "179:2")
	require.Zero(t, m.CardUsed)

	m = MachineOf(t.TempDir())
	require.Positive(t, m.Processors)
	require.Positive(t, m.Memory)
	require.LessOrEqual(t, m.MemoryFree, m.Memory)
}

func TestMachineInWords(t *testing.T) {
	for _, c := range []struct {
		m    Machine
		want string
	}{
		{Machine{Processors: 4, Load: 0.51, Memory: 2e9, MemoryFree: 1e9, Temperature: 51.2, CardUsed: 30},
			"machine   4 processors, load 0.5; 1.0 GB of 2.0 GB memory free; 51 °C; its card has used up to 30 % " +
				"of its life\n"},
		{Machine{Processors: 1, Load: 2, Memory: 512e6}, "machine   1 processor, load 2.0; 512 MB memory\n"},
		{Machine{}, ""},
	} {
		r := Report{Running: true, Machine: c.m}
		var b strings.Builder
		require.NoError(t, r.Print(&b))
		if c.want == "" {
			require.NotContains(t, b.String(), "machine")
		} else {
			require.Contains(t, b.String(), c.want)
		}
	}
}
