package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// slack is how far an event may be from a walk and still be that walk's.
const slack = time.Second

// result is what one side made of one scene.
type result struct{ walks, found, extra int }

// score counts the walks that an event overlaps, and the events that overlap no walk. Events of
// before from or after until are not asked for.
func score(truth, spans []span, from, until time.Time) result {
	r := result{walks: len(truth)}
	meets := func(a, b span) bool { return !a.start.After(b.end.Add(slack)) && !a.end.Before(b.start.Add(-slack)) }
	for _, w := range truth {
		if slices.ContainsFunc(spans, func(s span) bool { return meets(s, w) }) {
			r.found++
		}
	}
	for _, s := range spans {
		if s.start.Before(from) || s.end.After(until) {
			continue
		}
		if !slices.ContainsFunc(truth, func(w span) bool { return meets(s, w) }) {
			r.extra++
		}
	}
	return r
}

// cost is what a process and its children used until now.
type cost struct {
	processor time.Duration
	memory    int64 // bytes resident now
}

// costOf adds up a process and those that it started.
func costOf(pid int) (cost, error) {
	var c cost
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return c, err
	}
	seen := false
	for _, path := range dirs {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		text := string(content)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // from the state on: proc(5), field 3
		own := filepath.Base(filepath.Dir(path)) == strconv.Itoa(pid)
		if !own && fields[1] != strconv.Itoa(pid) {
			continue
		}
		seen = seen || own
		user, _ := strconv.ParseInt(fields[11], 10, 64) // in hundredths of a second, on Linux everywhere
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		c.processor += time.Duration(user+system) * 10 * time.Millisecond
		c.memory += pages * int64(os.Getpagesize())
	}
	if !seen {
		return c, fmt.Errorf("process %d has ended", pid)
	}
	return c, nil
}
