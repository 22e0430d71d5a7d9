package e2e

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// filmed is a camera of ours of which it is known when something moves.
type filmed struct {
	id, address string
	args        []string
	truth       string // file
	program     *program
	runs        []showing
}

// showing is a run of the camera: the scene again and again from a moment on, until the camera
// ended.
type showing struct {
	began, ended time.Time // ended is zero as long as it runs
	loop         time.Duration
	moves        []span
}

type span struct{ from, to time.Time }

// near reports whether two spans meet, if both are longer by slack at each end.
func (s span) near(other span, slack time.Duration) bool {
	return !s.from.After(other.to.Add(slack)) && !other.from.After(s.to.Add(slack))
}

// calm reports whether nothing disturbed what happened in the span.
func (s span) calm(disturbed []span) bool {
	for _, d := range disturbed {
		if s.near(d, 2*time.Second) {
			return false
		}
	}
	return true
}

func (s span) String() string {
	return s.from.UTC().Format("15:04:05.000") + "–" + s.to.UTC().Format("15:04:05.000")
}

// newFilmed starts a camera with a scene of this many seconds.
func newFilmed(t *testing.T, id, codec string, seconds int, more ...string) *filmed {
	t.Helper()
	needProgram(t, "ffmpeg", "ffmpeg")
	port, truth := harness.Port(t), t.TempDir()+"/truth.csv"
	f := &filmed{id: id, address: fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port), truth: truth}
	f.args = append([]string{"--listen", fmt.Sprintf("127.0.0.1:%d", port), "--path", "/cam", "--codec", codec,
		"--truth", truth,
		"--length", strconv.Itoa(seconds)}, more...)
	f.start(t, seconds)
	return f
}

func (f *filmed) start(t *testing.T, seconds int) {
	t.Helper()
	f.program = start(t, "camsim", f.args...)
	line := f.program.line("camsim ready", 60*time.Second)
	_, at, found := strings.Cut(line, ", start ")
	require.True(t, found, "%s", line)
	began, err := time.Parse("2006-01-02T15:04:05.000Z", strings.TrimSpace(at))
	require.NoError(t, err)
	file, err := os.Open(f.truth)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	run := showing{began: began, loop: time.Duration(seconds) * time.Second}
	for _, row := range rows[1:] {
		from, err := time.ParseDuration(row[0] + "s")
		require.NoError(t, err)
		to, err := time.ParseDuration(row[1] + "s")
		require.NoError(t, err)
		run.moves = append(run.moves, span{began.Add(from), began.Add(to)})
	}
	require.NotEmpty(t, run.moves)
	f.runs = append(f.runs, run)
}

// again kills the camera and starts it anew.
func (f *filmed) again(t *testing.T) {
	t.Helper()
	last := &f.runs[len(f.runs)-1]
	last.ended = time.Now()
	f.program.kill()
	f.start(t, int(last.loop/time.Second))
}

// moves are the motions that lie wholly between two times.
func (f *filmed) moves(from, to time.Time) (all []span) {
	for _, run := range f.runs {
		end := to
		if !run.ended.IsZero() && run.ended.Before(to) {
			end = run.ended
		}
		for shift := time.Duration(0); run.began.Add(shift).Before(end); shift += run.loop {
			for _, m := range run.moves {
				if m := (span{m.from.Add(shift), m.to.Add(shift)}); m.from.After(from) && m.to.Before(end) {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// Tolerances of what a bridge tells of the scene "person" at ten pictures a second: five and ten
// pictures.
const (
	mostLate = 700 * time.Millisecond  // the start, and how far the end may be from the truth before it
	mostOver = 1300 * time.Millisecond // the end after the last motion
)

// told is what a bridge told of a camera's motions, beside the truth.
type told struct{ right, missed, invented, wrongStart, wrongEnd []string }

func (r *told) add(o told) {
	r.right, r.missed, r.invented = append(r.right, o.right...), append(r.missed, o.missed...),
		append(r.invented, o.invented...)
	r.wrongStart, r.wrongEnd = append(r.wrongStart, o.wrongStart...), append(r.wrongEnd, o.wrongEnd...)
}

func (r *told) String() string {
	return fmt.Sprintf("%d motions right; missed %q; invented %q; wrong start %q; wrong end %q", len(r.right), r.missed,
		r.invented, r.wrongStart, r.wrongEnd)
}

// compare holds the events of a camera against its truth. What meets one of the disturbances is
// left out: it may be cut, or missing.
func (f *filmed) compare(events []vms.Event, from, to time.Time, disturbed []span) (r told) {
	var seen []span
	for _, ev := range events {
		s := span{ev.StartTimestamp.Time, to}
		if ev.EndTimestamp != nil {
			s.to = ev.EndTimestamp.Time
		}
		seen = append(seen, s)
	}
	moves := f.moves(from, to)
	for _, m := range moves {
		if !m.calm(disturbed) {
			continue
		}
		var met []span
		for _, s := range seen {
			if s.near(m, 300*time.Millisecond) {
				met = append(met, s)
			}
		}
		if len(met) == 0 {
			r.missed = append(r.missed, fmt.Sprint(f.id, " ", m))
			continue
		}
		first, last := met[0].from, met[0].to
		for _, s := range met {
			if s.from.Before(first) {
				first = s.from
			}
			if s.to.After(last) {
				last = s.to
			}
		}
		right := true
		if d := first.Sub(m.from); d < -mostLate || d > mostLate {
			right, r.wrongStart = false, append(r.wrongStart, fmt.Sprint(f.id, " ", m, " begins ", d))
		}
		if d := last.Sub(m.to); d < -mostLate || d > mostOver {
			right, r.wrongEnd = false, append(r.wrongEnd, fmt.Sprint(f.id, " ", m, " ends ", d))
		}
		if right {
			r.right = append(r.right, fmt.Sprint(f.id, " ", m))
		}
	}
	for _, s := range seen {
		if !s.from.After(from) || !s.to.Before(to) || !s.calm(disturbed) {
			continue
		}
		found := false
		for _, m := range f.moves(from.Add(-time.Minute), to.Add(time.Minute)) {
			found = found || s.near(m, time.Second)
		}
		if !found {
			r.invented = append(r.invented, fmt.Sprint(f.id, " ", s))
		}
	}
	return r
}

// The comparison can fail, in each of its ways.
func TestCompareWithTheTruth(t *testing.T) {
	at := func(s float64) time.Time {
		return time.Unix(1_800_000_000, 0).Add(time.Duration(s * float64(time.Second)))
	}
	f := &filmed{id: "a", runs: []showing{{began: at(0), loop: 20 * time.Second, moves: []span{{at(5), at(9)}}}}}
	event := func(from, to float64) vms.Event {
		return vms.Event{StartTimestamp: vms.At(at(from)), EndTimestamp: vms.Ptr(at(to))}
	}
	for name, tc := range map[string]struct {
		events    []vms.Event
		disturbed []span
		want      [5]int // right, missed, invented, wrong start, wrong end
	}{
		"all right":         {[]vms.Event{event(5.1, 9.2), event(25.2, 29)}, nil, [5]int{2}},
		"one missed":        {[]vms.Event{event(5.1, 9.2)}, nil, [5]int{1, 1}},
		"one too many":      {[]vms.Event{event(5.1, 9.2), event(25.2, 29), event(14, 15)}, nil, [5]int{2, 0, 1}},
		"began late":        {[]vms.Event{event(6, 9.2), event(25.2, 29)}, nil, [5]int{1, 0, 0, 1}},
		"ended two s early": {[]vms.Event{event(5.1, 7.1), event(25.2, 29)}, nil, [5]int{1, 0, 0, 0, 1}},
		"in two":            {[]vms.Event{event(5.1, 7.1), event(7.5, 9.2), event(25.2, 29)}, nil, [5]int{2}},
		"disturbed":         {[]vms.Event{event(5.1, 6)}, []span{{at(6), at(7)}, {at(24), at(26)}}, [5]int{}},
	} {
		got := f.compare(tc.events, at(1), at(39), tc.disturbed)
		require.Equal(t, tc.want, [5]int{len(got.right), len(got.missed), len(got.invented), len(got.wrongStart),
			len(got.wrongEnd)}, "%s: %s", name, &got)
	}
}
