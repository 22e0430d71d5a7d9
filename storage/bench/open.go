package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vmsbridge/storage/stills"
	"vmsbridge/storage/vfs"
)

// hollow is a file system whose files have holes where records would be: of a segment, only the
// ends and the index are written. Open reads no more than these.
type hollow struct{ vfs.FS }

type hollowFile struct{ vfs.File }

func (hollow) Create(name string, size int64) (vfs.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	g, err := vfs.OS.Open(name, true)
	return hollowFile{g}, err
}

func (f hollowFile) WriteAt(p []byte, at int64) (int, error) {
	if len(p) > 4 && string(p[:4]) == "\xd9\xe1\xa7\x53" {
		return len(p), nil
	}
	return f.File.WriteAt(p, at)
}

const (
	openSegments = 4096
	openSegment  = 24 << 20
	openCameras  = 32
	openStill    = 38_000
)

// benchOpen makes 4096 full segments of 24 MiB, 103 GB in all, and opens them in a process of its
// own.
func benchOpen(dir string, segments int) error {
	sub := filepath.Join(dir, "open")
	r, err := stills.Open(sub, stills.Options{MaxBytes: 200 << 30, SegmentBytes: openSegment, FlushEvery: time.Second,
		MinFree: -1, Cameras: openCameras, FS: hollow{vfs.OS}})
	if err != nil {
		return err
	}
	jpeg := noise(openStill)
	n := 0
	for ; ; n++ {
		kind := stills.Preview
		if n/openCameras%8 == 7 {
			kind = stills.Main
		}
		err := r.Append(stills.Still{Camera: camera(n % openCameras), Kind: kind,
			Time: epoch.Add(time.Duration(n/openCameras) * 10 * time.Second), JPEG: jpeg})
		if err != nil {
			return err
		}
		if n%10_000 == 0 && r.Stats().Segments > segments {
			break
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	fmt.Printf("\n### Open: %d full segments of %d MiB, %d cameras with two kinds; a process of its own\n\n", segments,
		openSegment>>20, openCameras)
	fmt.Println("| page cache | stills | segments | open ms | of that processor ms | heap MiB | peak RSS MiB | of " +
		"that before Open |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, state := range []string{"warm", "cold"} {
		if state == "cold" {
			if err := forget(sub); err != nil {
				return err
			}
		}
		out, err := exec.Command(os.Args[0], "-child-open", sub).Output()
		if err != nil {
			return fmt.Errorf("open in a child: %w: %s", err, out)
		}
		var o opened
		if err := json.Unmarshal(out, &o); err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %d | %.0f | %.0f | %.1f | %.1f | %.1f |\n", state, o.Stills, o.Segments, o.Millis,
			o.CPUMillis, o.HeapMiB, o.PeakMiB, o.BeforeMiB)
	}
	return os.RemoveAll(sub)
}

type opened struct {
	Stills, Segments                               int
	Millis, CPUMillis, HeapMiB, PeakMiB, BeforeMiB float64
}

// childOpen opens the ring and says what that took.
func childOpen(dir string) error {
	before, idle := peak(), processor()
	began := time.Now()
	r, err := stills.Open(dir, stills.Options{MaxBytes: 200 << 30, SegmentBytes: openSegment, FlushEvery: time.Hour,
		MinFree: -1, Cameras: openCameras})
	if err != nil {
		return err
	}
	took, high, busy := time.Since(began), peak(), processor()-idle
	s := r.Stats()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	o := opened{s.Stills, s.Segments, took.Seconds() * 1e3, busy.Seconds() * 1e3, float64(m.HeapAlloc) / (1 << 20),
		high, before}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		return err
	}
	return r.Close()
}

// processor is the time that this process was computing so far; unlike the wall clock, it hardly
// minds a loaded machine.
func processor() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the most memory that this process ever had, in MiB.
func peak() float64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(n) / 1024
		}
	}
	return 0
}

// forget has the system drop what it holds in memory of the files in dir.
func forget(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	unix.Sync()
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		if f.Close(); err != nil {
			return err
		}
	}
	return nil
}
