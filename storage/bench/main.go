package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "", "folder on the disk to measure; a temporary one below it is used")
	quick := flag.Bool("quick", false, "a tenth of everything")
	only := flag.String("only", "append,before,open,quiet", "which tables")
	which := flag.String("sides", "",
		"only these, by their first words, with commas; the plain writer is needed to compare")
	rounds := flag.Int("rounds", 2, "how often each side appends")
	child := flag.String("child-open", "", "open the ring in this folder and say what that took")
	quiet := flag.String("child-quiet", "",
		"store stills in a ring in this folder, and say what that wrote to the device")
	every := flag.Duration("every", time.Second, "with child-quiet, the pace")
	span := flag.Duration("for", time.Minute, "with child-quiet, how long")
	flag.Parse()
	if *quiet != "" {
		return childQuiet(*quiet, pace{*every, *span})
	}
	if *child != "" {
		return childOpen(*child)
	}
	if *which != "" {
		sides = slices.DeleteFunc(sides, func(s contender) bool {
			word, _, _ := strings.Cut(s.name, " ")
			return !slices.Contains(strings.Split(*which, ","), word)
		})
	}
	debug.SetMemoryLimit(2 << 30)
	sub, err := os.MkdirTemp(*dir, "storage-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(sub)
	part := 1
	if *quick {
		part = 10
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("\n%s, %d processors, %s, below %s; load average at the start: %s", runtime.Version(), runtime.NumCPU(),
		time.Now().Format(time.DateOnly), *dir, load)
	for _, b := range []struct {
		name string
		run  func() error
	}{
		{"append", func() error { return benchAppend(sub, 1<<30/int64(part), *rounds) }},
		{"quiet", func() error { return benchQuiet(sub, 60*time.Second/time.Duration(part)) }},
		{"open", func() error { return benchOpen(sub, openSegments/part) }},
		{"before", func() error { return benchBefore(sub, 2_600_000/part, 6*time.Second/time.Duration(part)) }},
	} {
		if strings.Contains(","+*only+",", ","+b.name+",") {
			if err := b.run(); err != nil {
				return err
			}
		}
	}
	return nil
}
