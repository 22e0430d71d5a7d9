package accuracy_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	lines "vmsbridge/motion/rule"
	"vmsbridge/scripts/harness"
)

// crossings is a real clip in the folder lines of realDir, and when something crosses a line of it,
// in seconds: by eye, from the row or column of pixels of the line over the time, before any
// counting.
type crossings struct {
	name, from string
	line       [][2]float64
	since      float64 // after which crossings are counted: what stood there at the start left ghosts
	ab, ba     []float64
	turned     string // how the clip is shown, see turn
}

// Of persons.mp4: when each of the people passes a place, as they come in from below, head first
// and cut off by the border, and as they leave to the right; by eye, from the pictures. Those who
// come in pass the first for their body, the second with their feet, and the third with their head.
var (
	comingIn   = []float64{6.4, 23.2, 50.7, 75.4, 123.9}
	feetComeIn = []float64{7.4, 24.1, 52, 76.2, 93.9, 125.5}
	headComeIn = []float64{6.2, 22.9, 50.4, 74.7, 92.3, 123.6}
	leaving    = []float64{19, 43.9, 68.9, 85.8, 118.8, 134.8}
)

var lineClips = []crossings{
	{name: "highway.avi", from: "andrewssobral/vehicle_detection_haarcascades, dataset/video1.avi",
		line: [][2]float64{{0, 0.5}, {0.72, 0.5}}, since: 3,
		ba: []float64{3.1, 3.8, 3.98, 4, 5.8, 7.23, 7.9, 8.05, 9.82, 11.03, 11.72, 11.97, 13.3, 14.5, 14.95, 15.7, 16.1,
			16.7, 17.85, 18.2, 19.42, 22, 22.3, 22.4, 23.03, 24.7, 25.05, 25.07, 26.4, 26.63, 30.63, 31.43, 31.63, 32.2,
			32.7}},
	{name: "motorway.avi", from: "the same, dataset/video2.avi", line: [][2]float64{{0.45, 0.46}, {1, 0.46}}, since: 3,
		ba: []float64{3.83, 4.15, 5.22, 7.4, 8.47, 11.4, 13.14, 14.6, 15, 16.6, 17.66, 19.2, 19.7, 19.94, 20.6, 21.5,
			22, 22.7, 23.46, 27, 28.4, 29.44}},
	{name: "street.avi", from: "andrewssobral/simple_vehicle_counting, dataset/video.avi",
		line: [][2]float64{{0.6, 0}, {0.6, 1}}, ba: []float64{2.6, 4.1, 4.6, 7.1, 10.3}},
	{name: "lot.mp4", from: "intel-iot-devkit/sample-videos, car-detection.mp4", line: [][2]float64{{0, 0.5}, {1, 0.5}},
		ab: []float64{15.4, 25.9}, ba: []float64{7.7, 18.2}},
	{name: "persons.mp4, upright", from: personsFrom, line: [][2]float64{{0.45, 0}, {0.45, 1}}, ba: comingIn},
	{name: "persons.mp4, upright, at the side", from: personsFrom, line: [][2]float64{{0.8, 0}, {0.8, 1}}, ba: leaving},
	{name: "persons.mp4, level", from: personsFrom, line: [][2]float64{{0, 0.95}, {1, 0.95}}, ba: feetComeIn},
	{name: "persons.mp4, mirrored", from: personsFrom, line: [][2]float64{{0.55, 0}, {0.55, 1}}, ab: comingIn,
		turned: "h"},
	{name: "persons.mp4, upside down", from: personsFrom, line: [][2]float64{{0, 0.3}, {1, 0.3}}, ab: headComeIn,
		turned: "v"},
	{name: "persons.mp4, upside down, upright", from: personsFrom, line: [][2]float64{{0.45, 0}, {0.45, 1}},
		ba: comingIn, turned: "v"},
	{name: "persons.mp4, transposed", from: personsFrom, line: [][2]float64{{0, 0.45}, {1, 0.45}}, ab: comingIn,
		turned: "t"},
	{name: "persons.mp4, transposed, at the side", from: personsFrom, line: [][2]float64{{0, 0.8}, {1, 0.8}},
		ab: leaving, turned: "t"},
}

const personsFrom = "intel-iot-devkit/sample-videos, one-by-one-person-detection.mp4"

// turn mirrors a film (h: left and right, v: above and below) or transposes it (t).
func turn(f film, how string) film {
	if how == "" {
		return f
	}
	g := film{f.width, f.height, make([]byte, len(f.pictures))}
	if how == "t" {
		g.width, g.height = f.height, f.width
	}
	for i, v := range f.pictures {
		x, y, first := i%f.width, i/f.width%f.height, i/(f.width*f.height)*f.width*f.height
		switch how {
		case "h":
			x = f.width - 1 - x
		case "v":
			y = f.height - 1 - y
		case "t":
			x, y = y, x
		}
		g.pictures[first+y*g.width+x] = v
	}
	return g
}

// rulesOf are the changes that a Watch tells of a film, in seconds since its first picture.
func rulesOf(t testing.TB, f film, c lines.Config) (all []lines.Change) {
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	w, err := lines.New(c)
	require.NoError(t, err)
	var things []motion.Thing
	size := f.width * f.height
	for i := range f.count() {
		p := motion.Picture{Luma: f.pictures[i*size : (i+1)*size], Width: f.width, Height: f.height, Stride: f.width,
			Time: epoch.Add(time.Duration(i) * time.Second / realRate)}
		d.Step(p)
		things = d.Things(things[:0])
		all = append(all, w.Step(p, things)...)
	}
	return append(all, w.Gap()...)
}

// matched is how many of the truth's moments have one within a second, each used once.
func matched(truth, got []float64) (n int) {
	used := make([]bool, len(got))
	for _, want := range truth {
		best := -1
		for i, at := range got {
			if !used[i] && math.Abs(at-want) <= 1 && (best < 0 || math.Abs(at-want) < math.Abs(got[best]-want)) {
				best = i
			}
		}
		if best >= 0 {
			used[best] = true
			n++
		}
	}
	return n
}

// linesTable is what is counted at lines of real clips, for motion/ACCURACY.md.
func linesTable(t testing.TB) string {
	dir := filepath.Join(os.Getenv("VMSBRIDGE_REAL"), "lines")
	var b strings.Builder
	b.WriteString("## Lines and areas\n\n")
	if _, err := os.Stat(dir); err != nil {
		b.WriteString("Not there when this was written: the folder lines in that of VMSBRIDGE_REAL.\n\n")
		return b.String()
	}
	b.WriteString("What crosses a line, by eye from the line's own pixels over the time, or from the pictures where " +
		"people are cut off by the border,\nand what is counted, at 10 pictures a second. A crossing is right that " +
		"is within a second of one that goes the same way.\n\n" +
		"| clip | crossings | counted | right, and the right way | where from |\n|---|---:|---:|---:|---|\n")
	var truth, counted, right int
	for _, c := range lineClips {
		var ab, ba []float64
		file, _, _ := strings.Cut(c.name, ",")
		for _, ch := range rulesOf(t, turn(watch(t, filepath.Join(dir, file)), c.turned), lines.Config{
			Lines: []lines.Line{{ID: "l", Points: c.line}}}) {
			at := offset(ch.Start)
			switch {
			case at < c.since:
			case ch.Direction == lines.AToB:
				ab = append(ab, at)
			default:
				ba = append(ba, at)
			}
		}
		n, hits := len(c.ab)+len(c.ba), matched(c.ab, ab)+matched(c.ba, ba)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", c.name, n, len(ab)+len(ba), hits, c.from)
		truth, counted, right = truth+n, counted+len(ab)+len(ba), right+hits
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | |\n\n", truth, counted, right)
	b.WriteString(loiterText(rulesOf(t, watch(t, filepath.Join(dir, "persons.mp4")), lines.Config{
		Areas: []lines.Area{{ID: "a", Outline: motion.Polygon{{0.2, 0.1}, {0.8, 0.1}, {0.8, 1}, {0.2, 1}},
			Loiter: loiterFor}}})))
	return b.String()
}

// Of persons.mp4 (intel-iot-devkit/sample-videos, one-by-one-person-detection.mp4): when each of
// six people comes in and leaves the area, by eye; they stand in between.
var stays = [][2]float64{{6, 19}, {22.7, 43.9}, {50.2, 68.9}, {74.5, 85.8}, {92.1, 118.8}, {123.4, 134.8}}

const loiterFor = 8 * time.Second

// loiterText says how well loitering is told in persons.mp4.
func loiterText(changes []lines.Change) string {
	var starts, ends []float64
	told := 0
	for _, c := range changes {
		if c.Kind != lines.LoiterEnded {
			continue
		}
		told++
		for _, s := range stays {
			if late := offset(c.Start) - s[0] - loiterFor.Seconds(); math.Abs(late) < 3 {
				starts, ends = append(starts, math.Abs(late)), append(ends, math.Abs(offset(c.Last)-s[1]))
			}
		}
	}
	return fmt.Sprintf("Who stays longer than 8 s: six people come in one after the other, stand, and leave "+
		"(persons.mp4: intel-iot-devkit/sample-videos,\none-by-one-person-detection.mp4). %d events, %d of them of "+
		"these six; the start is off by %.1f s at most, the end by %.1f s.\n\nThe constants of `rule` were chosen on "+
		"these clips, so none of them judges. Crossings of the first three seconds of the\nfirst two clips do not "+
		"count: vehicles stood in the picture when it was learned.\n\n",
		told, len(starts), percentileOf(starts, 1), percentileOf(ends, 1))
}

// TestLines says what is counted at lines of real clips.
func TestLines(t *testing.T) {
	if harness.Race {
		t.Skip("the detector alone decides here; the race detector finds nothing in it")
	}
	realDir(t)
	t.Log(linesTable(t))
}
