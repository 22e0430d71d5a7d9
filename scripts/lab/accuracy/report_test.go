package accuracy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// row is the sum of the verdicts of one kind.
type row struct {
	name                               string
	trials, walks, found, extra, split int
	events                             int
	onset, end                         []float64
	watched                            time.Duration
	pictures                           int
	spent                              time.Duration
}

func (r row) share() float64 {
	if r.walks == 0 {
		return 1
	}
	return float64(r.found) / float64(r.walks)
}

func (r row) String() string {
	return fmt.Sprintf("%-26s %3d scenes, %5.1f min: %3d of %3d walks, %2d extra, %2d splits, %3d events; onset p50 "+
		"%3.0f p95 %4.0f ms, end p50 %3.0f p95 %4.0f ms; %v a picture",
		r.name, r.trials, r.watched.Minutes(), r.found, r.walks, r.extra, r.split, r.events,
		1000*percentileOf(r.onset, 0.5), 1000*percentileOf(r.onset, 0.95), 1000*percentileOf(r.end, 0.5),
		1000*percentileOf(r.end, 0.95),
		(r.spent / time.Duration(max(1, r.pictures))).Round(time.Microsecond))
}

func (r *row) add(o row) {
	r.trials, r.walks, r.found, r.extra, r.split = r.trials+o.trials, r.walks+o.walks, r.found+o.found, r.extra+o.extra,
		r.split+o.split
	r.events, r.watched, r.pictures, r.spent = r.events+o.events, r.watched+o.watched, r.pictures+o.pictures,
		r.spent+o.spent
	r.onset, r.end = append(r.onset, o.onset...), append(r.end, o.end...)
}

type table struct {
	rows     []*row
	problems []string
}

func tabulate(verdicts []verdict) *table {
	t := &table{}
	at := map[string]*row{}
	for _, v := range verdicts {
		r := at[v.trial.row]
		if r == nil {
			r = &row{name: v.trial.row}
			at[v.trial.row] = r
			t.rows = append(t.rows, r)
		}
		r.add(row{trials: 1, walks: v.walks, found: v.found, extra: v.extra, split: v.split, events: len(v.events),
			onset: v.onset, end: v.end,
			watched: v.trial.length, pictures: v.pictures, spent: v.spent})
		for _, p := range v.problems {
			t.problems = append(t.problems, fmt.Sprintf("%v: %s", v.trial, p))
		}
	}
	return t
}

// sum adds up the rows whose names begin alike.
func (t *table) sum(prefix string) row {
	all := row{name: strings.TrimSuffix(prefix, ": ") + ", all"}
	for _, r := range t.rows {
		if strings.HasPrefix(r.name, prefix) {
			all.add(*r)
		}
	}
	return all
}

// markdown is motion/ACCURACY.md.
func (t *table) markdown(began time.Time, tb testing.TB, masks string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# What the detector finds\n")
	line("Written by `scripts/accuracy` on %s, on %s with %d cores, in %.0f s. All scenes are drawn by "+
		"`scripts/lab/scene` from a seed, with",
		began.UTC().Format("2006-01-02"), processor(), runtime.NumCPU(), time.Since(began).Seconds())
	line("known truth; the detector has its defaults. One of them again, in `scripts/lab`: `go test ./accuracy -run " +
		"OneScene -v -scene NAME -seed N -length 40s`.\n")
	ms := func(errors []float64, p float64) string {
		if len(errors) == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f", 1000*percentileOf(errors, p))
	}
	section := func(title, prefix string, walks bool) {
		all := t.sum(prefix)
		if all.trials == 0 {
			return
		}
		line("## %s\n", title)
		rows := append([]*row(nil), t.rows...)
		rows = append(rows, &all)
		if !walks {
			line("| scene | minutes | events |")
			line("|---|---:|---:|")
		} else {
			line("| scene | walks | found | | extra events | splits | onset p50 / p95, ms | end p50 / p95, ms |")
			line("|---|---:|---:|---:|---:|---:|---:|---:|")
		}
		for _, r := range rows {
			name, ok := strings.CutPrefix(r.name, prefix)
			if r == &all {
				name, ok = "**all**", true
			}
			switch {
			case !ok:
			case !walks:
				line("| %s | %.0f | %d |", name, r.watched.Minutes(), r.events)
			default:
				line("| %s | %d | %d | %.1f %% | %d | %d | %s / %s | %s / %s |", name, r.walks, r.found, 100*r.share(),
					r.extra, r.split,
					ms(r.onset, 0.5), ms(r.onset, 0.95), ms(r.end, 0.5), ms(r.end, 0.95))
			}
		}
		line("")
	}
	section("Nuisances alone", "alone: ", false)
	section("Nuisances with someone walking", "person: ", true)
	section("What is hard to see", "hard: ", true)
	section("Sizes of the camera's pictures", "size: ", true)
	section("Rates", "rate: ", true)
	b.WriteString(realTable(tb))
	b.WriteString(linesTable(tb))
	b.WriteString(clipTable(tb))
	t.tampering(line, ms)
	b.WriteString(masks)
	line("## What went wrong\n")
	line("Each scene in which something was missed, split, found where nothing is, or found more than 0.35 s (its " +
		"end: 0.8 s) beside the truth.\n")
	for _, p := range t.problems {
		line("- %s", p)
	}
	if len(t.problems) == 0 {
		line("Nothing.")
	}
	return b.String()
}

// tampering writes the tables of those who tamper and of the innocents.
func (t *table) tampering(line func(format string, args ...any), ms func(errors []float64, p float64) string) {
	line("## Tampering\n")
	line("Found is what is reported within %v. Reported late by is measured from where the picture is spoilt; a "+
		"wrong reason or a second report counts in the last column.\n", within)
	line("| scene | times | found | extra | reported late by p50 / p95, ms | wrong reason or twice |")
	line("|---|---:|---:|---:|---:|---:|")
	guilty, free := t.sum("tamper: "), t.sum("innocent: ")
	for _, r := range append(append([]*row(nil), t.rows...), &guilty) {
		if name, ok := strings.CutPrefix(r.name, "tamper: "); ok || r == &guilty {
			line("| %s | %d | %d | %d | %s / %s | %d |", name, r.walks, r.found, r.extra, ms(r.onset, 0.5),
				ms(r.onset, 0.95), r.split)
		}
	}
	line("")
	line("| scene without tampering | minutes | reported |")
	line("|---|---:|---:|")
	for _, r := range append(append([]*row(nil), t.rows...), &free) {
		if name, ok := strings.CutPrefix(r.name, "innocent: "); ok || r == &free {
			line("| %s | %.0f | %d |", name, r.watched.Minutes(), r.extra)
		}
	}
	line("")
}

// processor is the machine's own name for its processor.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for l := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

// clipTable is the table of the real clip, if it is there.
func clipTable(tb testing.TB) string {
	const clip = "one-by-one-person-detection"
	dir := os.Getenv("VMSBRIDGE_CLIPS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "clips")
	}
	if _, err := os.Stat(filepath.Join(dir, clip+".csv")); err != nil {
		return "## The real clip\n\nNot there when this was written.\n\n"
	}
	pictures := decode(tb, filepath.Join(dir, clip+".mp4"), 320, 180)
	labels := readLabels(tb, filepath.Join(dir, clip+".csv"))
	var b strings.Builder
	b.WriteString("## The real clip\n\n`" + clip +
		".mp4`, 139 s, labelled by eye to a picture or two; how its pictures are delivered:\n\n")
	b.WriteString("| | walks | found | starts in quiet | splits | starts while standing | onset p50 / p95, ms | end " +
		"p50 / p95, ms |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, how := range deliveries() {
		s := rate(labels, detect(tb, pictures, 320, 180, how), how.first, len(pictures))
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d / %d | %d / %d |\n", how.name, s.walks, s.found,
			s.quietStarts, s.split, s.standing,
			100*percentile(s.onset, 0.5), 100*percentile(s.onset, 0.95), 100*percentile(s.end, 0.5),
			100*percentile(s.end, 0.95))
	}
	b.WriteString("\n")
	return b.String()
}
