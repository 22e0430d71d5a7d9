package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// table collects the results of all batches.
type table struct {
	scenes, sides []string
	results       map[string]map[string]result // by scene and side
	costs         map[string]*bill
}

// bill is what a side cost over all batches.
type bill struct {
	processor     time.Duration
	cameraSeconds float64
	memory        []int64 // bytes a camera, in each batch
}

func (t *table) add(scene, side string, r result) {
	if t.results == nil {
		t.results, t.costs = map[string]map[string]result{}, map[string]*bill{}
	}
	if t.results[scene] == nil {
		t.results[scene] = map[string]result{}
		t.scenes = append(t.scenes, scene)
	}
	if !slices.Contains(t.sides, side) {
		t.sides = append(t.sides, side)
		t.costs[side] = &bill{}
	}
	t.results[scene][side] = r
}

func (t *table) spent(side string, c cost, cameras int, time time.Duration) {
	b := t.costs[side]
	b.processor += c.processor
	b.cameraSeconds += float64(cameras) * time.Seconds()
	b.memory = append(b.memory, c.memory/int64(cameras))
}

func (t *table) markdown(f flags) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Side by side with Motion\n\n%s, %s/%s, %d processors. The same cameras (H.264, 640x360, 10 "+
		"pictures a second), at the same time, %d at once,\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), f.AtOnce)
	fmt.Fprintf(&b, "%d loops of %s each after one that does not count. Seeds from %d on. `scripts/bench peers` "+
		"writes this file.\n\n", f.Loops, f.Length, f.Seed)
	b.WriteString("found: walks that an event overlaps. extra: events while nobody is there. Motion's event gap is 2 " +
		"s, that of the bridge, for a gap of a minute\n")
	b.WriteString("joins what is false to what is true; it writes no picture and no movie, while the bridge keeps " +
		"its stills and its journal.\n")
	var settings []string
	for key, value := range tuned {
		settings = append(settings, "`"+key+" "+value+"`")
	}
	slices.Sort(settings)
	fmt.Fprintf(&b, "Tuned means %s.\n\n| scene |", strings.Join(settings, ", "))
	for _, s := range t.sides {
		fmt.Fprintf(&b, " %s: found | extra |", s)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|---:|", len(t.sides)) + "\n")
	sums := map[string]result{}
	for _, scene := range t.scenes {
		fmt.Fprintf(&b, "| %s |", scene)
		for _, side := range t.sides {
			r := t.results[scene][side]
			sums[side] = result{sums[side].walks + r.walks, sums[side].found + r.found, sums[side].extra + r.extra}
			fmt.Fprintf(&b, " %s | %d |", of(r), r.extra)
		}
		b.WriteString("\n")
	}
	b.WriteString("| **all** |")
	for _, side := range t.sides {
		fmt.Fprintf(&b, " **%s** | **%d** |", of(sums[side]), sums[side].extra)
	}
	b.WriteString("\n\n| | processor, % of one core a camera | memory, MB a camera |\n|---|---:|---:|\n")
	for _, side := range t.sides {
		c := t.costs[side]
		slices.Sort(c.memory)
		fmt.Fprintf(&b, "| %s | %.1f | %.0f |\n", side, 100*c.processor.Seconds()/c.cameraSeconds,
			float64(c.memory[len(c.memory)/2])/1e6)
	}
	return b.String()
}

func of(r result) string {
	if r.walks == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", r.found, r.walks)
}
