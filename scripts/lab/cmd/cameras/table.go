package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

type table struct{ rows []row }

// row is a stream and a number of cameras.
type row struct {
	stream  *stream
	cameras int
	names   []string
	rounds  []round
	seen    []string // by those who watched
}

// round is one figure of each side.
type round struct {
	sides      []used
	libavcodec time.Duration
	load       string
}

func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

// of is the median over the rounds of something of a side.
func (r row) of(side int, f func(used) float64) float64 {
	var all []float64
	for _, g := range r.rounds {
		all = append(all, f(g.sides[side]))
	}
	return median(all)
}

// percent is of one core, a camera.
func (r row) percent(d time.Duration, over time.Duration) float64 {
	return 100 * d.Seconds() / over.Seconds() / float64(r.cameras)
}

func (r row) cost(side int) float64 {
	return r.of(side, func(u used) float64 { return r.percent(u.main+u.children, u.time) })
}

func (r row) alone() float64 {
	var all []float64
	for _, g := range r.rounds {
		all = append(all, r.percent(g.libavcodec, g.sides[0].time))
	}
	return median(all)
}

// against is the median of a side's cost divided by the last side's, round by round.
func (r row) against(side int) float64 {
	var all []float64
	for _, g := range r.rounds {
		one, last := g.sides[side], g.sides[len(g.sides)-1]
		all = append(all, float64(one.main+one.children)/float64(max(last.main+last.children, 1)))
	}
	return median(all)
}

func (r row) line() string {
	line := fmt.Sprintf("%s, %d cameras: libavcodec %.2f", r.stream.name, r.cameras, r.alone())
	for i, name := range r.names {
		line += fmt.Sprintf(", %s %.2f", name, r.cost(i))
	}
	return line
}

const head = "| stream | bits a macroblock, QP | cameras | side | first process | others | **whole** | " +
	"beyond libavcodec | of %s | pictures/s a camera | dropped | wake-ups/s a camera | PSS MB | load |\n" +
	"|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"

func (t table) markdown(f flags) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What a camera costs\n\n%s, %s (%s), %s; `scripts/bench cameras`. All sides of a row read the "+
		"same cameras at the same time;\n", time.Now().UTC().Format(time.DateOnly), processor(), runtime.GOARCH,
		runtime.Version())
	fmt.Fprintf(&b, "%% of one core a camera, user and system; medians of %d times %s. Compare within a row's run "+
		"only: others may be at work on the machine.\n", f.Rounds, f.Every)
	b.WriteString("libavcodec is the time within its calls, by itself, for the same access units. " +
		"Bits are of pictures that are no keyframes.\n\n")
	last := ""
	for _, r := range t.rows {
		name := r.names[len(r.names)-1]
		if name != last {
			fmt.Fprintf(&b, head, name)
			last = name
		}
		what := fmt.Sprintf("%s (%s %dx%d at %d/s)", r.stream.name, r.stream.movie.Codec, r.stream.movie.Width,
			r.stream.movie.Height, r.stream.movie.Rate)
		fmt.Fprintf(&b, "| %s | %.1f, %.0f | %d | libavcodec alone | | | %.2f | | | | | | | %s |\n", what,
			r.stream.bits, r.stream.qp, r.cameras, r.alone(), r.rounds[0].load)
		for i, side := range r.names {
			percent := func(f func(used) time.Duration) float64 {
				return r.of(i, func(u used) float64 { return r.percent(f(u), u.time) })
			}
			rate := func(f func(used) float64) float64 {
				return r.of(i, func(u used) float64 { return f(u) / u.time.Seconds() / float64(r.cameras) })
			}
			fmt.Fprintf(&b, "| | | | %s | %.2f | %.2f | **%.2f** | %.2f | %.2f | %.1f | %.0f | %.0f | %.0f | |\n", side,
				percent(func(u used) time.Duration { return u.main }),
				percent(func(u used) time.Duration { return u.children }),
				r.cost(i), r.cost(i)-r.alone(), r.against(i),
				rate(func(u used) float64 { return u.pictures }), r.of(i, func(u used) float64 { return u.dropped }),
				rate(func(u used) float64 { return u.wakes }),
				r.of(i, func(u used) float64 { return float64(u.memory) / 1e6 }))
		}
	}
	for _, r := range t.rows {
		for _, line := range r.seen {
			fmt.Fprintf(&b, "\n%s, %d cameras; %s\n", r.stream.name, r.cameras, line)
		}
	}
	return b.String()
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "?"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return fmt.Sprint(runtime.NumCPU(), " processors")
}
