package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a side has used until now.
type usage struct {
	at       time.Time
	main     time.Duration // of processors, by its first process
	children time.Duration // by those that it started
	wakes    float64       // voluntary switches of all threads
	memory   int64         // PSS, bytes
	pictures float64       // that were looked at; 0: it does not say
	dropped  float64       // access units that were not decoded
}

// since is what was used from an earlier time on; memory is as it is.
func (u usage) since(before usage) used {
	return used{time: u.at.Sub(before.at), main: u.main - before.main, children: u.children - before.children,
		wakes: u.wakes - before.wakes, memory: u.memory, pictures: u.pictures - before.pictures,
		dropped: u.dropped - before.dropped}
}

// used is usage over a time.
type used struct {
	time, main, children     time.Duration
	wakes, pictures, dropped float64
	memory                   int64
}

// usageOf adds up a process and those that it started.
func usageOf(pid int) (usage, error) {
	u := usage{at: time.Now()}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return u, err
	}
	seen := false
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		text := string(content)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // from the state on: proc(5), field 3
		own := filepath.Base(filepath.Dir(path)) == strconv.Itoa(pid)
		if !own && fields[1] != strconv.Itoa(pid) {
			continue
		}
		user, _ := strconv.ParseInt(fields[11], 10, 64) // in hundredths of a second, on Linux everywhere
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		spent := time.Duration(user+system) * 10 * time.Millisecond
		if own {
			seen = true
			u.main += spent
		} else {
			u.children += spent
		}
		u.wakes += sumOf(filepath.Join(filepath.Dir(path), "task/*/status"), "voluntary_ctxt_switches:")
		u.memory += int64(sumOf(filepath.Join(filepath.Dir(path), "smaps_rollup"), "Pss:")) << 10
	}
	if !seen {
		return u, fmt.Errorf("process %d has ended", pid)
	}
	return u, nil
}

// sumOf adds up the numbers behind a name in files of /proc.
func sumOf(pattern, name string) (sum float64) {
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if rest, ok := strings.CutPrefix(line, name); ok {
				v, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				sum += v
			}
		}
	}
	return sum
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	return strings.Fields(string(text))[0]
}
