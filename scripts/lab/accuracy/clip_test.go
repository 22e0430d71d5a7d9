package accuracy_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

// clipsDir is where the shared clips lie: $VMSBRIDGE_CLIPS, or ../shared/clips beside the project.
func clipsDir(t testing.TB) string {
	dir := os.Getenv("VMSBRIDGE_CLIPS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "clips")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the shared clips are not there (%v); set VMSBRIDGE_CLIPS to their folder", err)
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed, the clips cannot be decoded: apt install ffmpeg (scripts/deps does)")
	}
	return dir
}

// encodings are the ways in which a camera may send the clip. No arguments: the file as it is.
var encodings = []struct {
	name, file string
	args       []string
}{
	{name: "original"},
	{name: "h264", file: "clip.mkv", args: []string{"-c:v", "libx264", "-preset", "ultrafast", "-crf", "28"}},
	{name: "h264-short-gop", file: "clip.mkv", args: []string{"-c:v", "libx264", "-preset", "ultrafast", "-b:v", "400k",
		"-g", "10", "-bf", "0"}},
	{name: "h265", file: "clip.mkv", args: []string{"-c:v", "libx265", "-preset", "ultrafast", "-crf", "30",
		"-x265-params", "log-level=error"}},
	{name: "mjpeg", file: "clip.mkv", args: []string{"-c:v", "mjpeg", "-q:v", "6", "-pix_fmt", "yuvj420p"}},
}

// decode returns the clip's pictures as reduced, full-range luma.
func decode(t testing.TB, clip string, width, height int) [][]byte {
	cmd := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", clip, "-vf",
		fmt.Sprintf("scale=%d:%d:flags=area:out_range=pc,format=gray", width, height), "-f", "rawvideo", "-")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var pictures [][]byte
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		p := make([]byte, width*height)
		if _, err := io.ReadFull(r, p); err != nil {
			break
		}
		pictures = append(pictures, p)
	}
	require.NoError(t, cmd.Wait(), complaints.String())
	return pictures
}

// reencode writes the clip in another encoding, in a folder of the test's own.
func reencode(t testing.TB, clip, name string, args []string) string {
	out := filepath.Join(t.TempDir(), name)
	all := slices.Concat([]string{"-v", "error", "-nostdin", "-i", clip, "-an"}, args, []string{out})
	msg, err := exec.Command("ffmpeg", all...).CombinedOutput()
	require.NoError(t, err, string(msg))
	return out
}

// label is one line of a clip's truth.
type label struct {
	start, end, tolerance int // pictures; end inclusive
	kind, note            string
}

func readLabels(t testing.TB, path string) []label {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment, r.FieldsPerRecord, r.LazyQuotes = '#', -1, true
	lines, err := r.ReadAll()
	require.NoError(t, err)
	var labels []label
	for _, line := range lines[1:] {
		number := func(i int) int {
			n, err := strconv.Atoi(line[i])
			require.NoError(t, err)
			return n
		}
		labels = append(labels, label{start: number(0), end: number(1), tolerance: number(5), kind: line[4],
			note: line[6]})
	}
	return labels
}

// event is a span in picture numbers; last inclusive.
type event struct{ start, last int }

// epoch is the time of picture 0 of all test scenes.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// delivery is how the pictures of the clip reach the detector: which of them (the time in
// milliseconds, or -1 for one that is lost).
type delivery struct {
	name  string
	first int
	at    func(i int) int
}

// deliveries start at different points of the stream, slow it down to five a second, and lose and
// delay pictures as a busy network does.
func deliveries() []delivery {
	var all []delivery
	onTime := func(i int) int { return 100 * i }
	for _, first := range []int{0, 7, 23, 38, 210} {
		all = append(all, delivery{fmt.Sprintf("from picture %d", first), first, onTime})
	}
	r := rand.New(rand.NewPCG(8, 8))
	late := make([]int, 2000)
	for i := range late {
		if late[i] = 100*i + r.IntN(60); r.IntN(12) == 0 {
			late[i] = -1
		}
	}
	return append(all,
		delivery{"at five a second", 0, func(i int) int {
			if i%2 == 1 {
				return -1
			}
			return 100 * i
		}},
		delivery{"with losses and jitter", 0, func(i int) int { return late[i] }})
}

// detect runs the pictures through a detector with default settings.
func detect(t testing.TB, pictures [][]byte, width, height int, how delivery) []event {
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	var events []event
	take := func(changes []motion.Change) {
		for _, c := range changes {
			if c.Kind == motion.Ended {
				events = append(events, event{int(c.Start.Sub(epoch).Milliseconds() / 100),
					int(c.Last.Sub(epoch).Milliseconds() / 100)})
			}
		}
	}
	for i := how.first; i < len(pictures); i++ {
		ms := how.at(i)
		if ms < 0 {
			continue
		}
		r := d.Step(motion.Picture{Luma: pictures[i], Width: width, Height: height, Stride: width,
			Time: epoch.Add(time.Duration(ms) * time.Millisecond)})
		take(r.Changes)
	}
	take(d.Gap())
	return events
}

// score compares events with labels.
type score struct {
	walks, found, split, quietStarts, standing int
	onset, end                                 []int // errors in pictures, signed: late is positive
	problems                                   []string
}

func rate(labels []label, events []event, first, count int) score {
	var s score
	for i, l := range labels {
		if l.start < first+20 || l.end >= count {
			continue // the detector must have seen the scene for two seconds
		}
		switch l.kind {
		case "motion":
			s.walks++
			var best *event
			for k := range events {
				e := &events[k]
				if abs(e.start-l.start) <= 5 && e.last >= l.start &&
					(best == nil || abs(e.start-l.start) < abs(best.start-l.start)) {
					best = e
				}
			}
			if best == nil {
				s.problems = append(s.problems, fmt.Sprintf("%d-%d %s: not found", l.start, l.end, l.note))
				continue
			}
			s.found++
			s.onset = append(s.onset, best.start-l.start)
			s.end = append(s.end, best.last-l.end)
			if best.last < l.end-l.tolerance-5 {
				s.problems = append(s.problems, fmt.Sprintf("%d-%d %s: ends at %d", l.start, l.end, l.note, best.last))
			}
			for k := range events {
				if e := &events[k]; e != best && e.start > l.start && e.start <= l.end-l.tolerance {
					s.split++
					s.problems = append(s.problems, fmt.Sprintf("%d-%d %s: split at %d", l.start, l.end, l.note,
						e.start))
				}
			}
		case "quiet":
			for _, e := range events {
				if e.start >= l.start+l.tolerance && e.start <= l.end-l.tolerance &&
					!(i+1 < len(labels) && labels[i+1].kind == "motion" &&
						e.start >= labels[i+1].start-labels[i+1].tolerance) {
					s.quietStarts++
					s.problems = append(s.problems, fmt.Sprintf("%d-%d quiet: starts at %d", l.start, l.end, e.start))
				}
			}
		case "present_still":
			for _, e := range events {
				if e.start > l.start+l.tolerance && e.start < l.end-l.tolerance {
					s.standing++
				}
			}
		}
	}
	return s
}

func abs(v int) int { return max(v, -v) }

// percentile returns the p-th percentile of the errors' sizes.
func percentile(errors []int, p float64) int {
	if len(errors) == 0 {
		return -1
	}
	sizes := make([]int, 0, len(errors))
	for _, e := range errors {
		sizes = append(sizes, abs(e))
	}
	slices.Sort(sizes)
	return sizes[min(len(sizes)-1, int(p*float64(len(sizes))))]
}

// TestWalksOfTheClip holds the detector to this: each walk has an event of its own that starts with
// it, whatever the encoding and wherever the stream begins; nothing starts while nothing moves.
func TestWalksOfTheClip(t *testing.T) {
	dir := clipsDir(t)
	clip := filepath.Join(dir, "one-by-one-person-detection.mp4")
	labels := readLabels(t, filepath.Join(dir, "one-by-one-person-detection.csv"))
	for _, enc := range encodings {
		t.Run(enc.name, func(t *testing.T) {
			t.Parallel()
			count, args := 1394, enc.args
			if harness.Race && args != nil {
				count, args = 260, append([]string{"-frames:v", "260"}, args...) // three walks
			}
			file := clip
			if args != nil {
				file = reencode(t, clip, enc.file, args)
			}
			pictures := decode(t, file, 320, 180)
			require.Len(t, pictures, count)
			for _, how := range deliveries() {
				if harness.Race && (how.first != 0 || enc.args != nil && how.at(1) != 100) {
					continue
				}
				began := time.Now()
				events := detect(t, pictures, 320, 180, how)
				each := time.Since(began) / time.Duration(len(pictures)-how.first)
				s := rate(labels, events, how.first, count)
				t.Logf("%s: %d of %d walks; start off by: median %d ms, p95 %d ms %v; end: median %d ms, p95 %d ms "+
					"%v; %d while standing, %d in quiet; %v a picture",
					how.name, s.found, s.walks, 100*percentile(s.onset, 0.5), 100*percentile(s.onset, 0.95), s.onset,
					100*percentile(s.end, 0.5), 100*percentile(s.end, 0.95), s.end, s.standing, s.quietStarts, each)
				assert.Empty(t, s.problems, "%s: events %v", how.name, events)
				assert.GreaterOrEqual(t, s.walks, 3)
				assert.LessOrEqual(t, percentile(s.onset, 0.95), 5)
				assert.LessOrEqual(t, percentile(s.end, 0.95), 8)
			}
		})
	}
}

// TestWalksFarAway: the clip as cameras see it that are three times as far away, somewhere in a
// picture in which nothing else is. Who walks away from the camera stays in one place, and grows.
func TestWalksFarAway(t *testing.T) {
	dir := clipsDir(t)
	labels := readLabels(t, filepath.Join(dir, "one-by-one-person-detection.csv"))
	for _, far := range []struct{ width, height, left, top int }{{90, 51, 100, 50}, {110, 62, 0, 0}} {
		t.Run(fmt.Sprintf("%dx%d", far.width, far.height), func(t *testing.T) {
			t.Parallel()
			pictures := decode(t, filepath.Join(dir, "one-by-one-person-detection.mp4"), far.width, far.height)
			if harness.Race {
				pictures = pictures[:260]
			}
			for i, p := range pictures {
				wide := bytes.Repeat([]byte{128}, 320*180)
				for y := range far.height {
					copy(wide[(far.top+y)*320+far.left:], p[y*far.width:][:far.width])
				}
				pictures[i] = wide
			}
			events := detect(t, pictures, 320, 180, delivery{at: func(i int) int { return 100 * i }})
			s := rate(labels, events, 0, len(pictures))
			assert.Empty(t, s.problems, "events %v", events)
			require.Equal(t, s.walks, s.found)
		})
	}
}

// TestBottles: the other clip has no labels; hands take bottles away and put them back, seven
// times, with large soft shadows that come before them. Whichever pictures a camera sends, each
// time is an event, which lasts until the hands are gone.
func TestBottles(t *testing.T) {
	clip := filepath.Join(clipsDir(t), "bottle-detection.mp4")
	pictures := decode(t, clip, 320, 180)
	const interval = time.Second * 6 / 179
	for _, sent := range []struct{ first, each int }{{0, 1}, {0, 3}, {1, 3}, {2, 3}} {
		d, err := motion.New(motion.Config{})
		require.NoError(t, err)
		type event struct{ began, ended float64 }
		var events []event
		for i := sent.first; i < len(pictures); i += sent.each {
			r := d.Step(motion.Picture{Luma: pictures[i], Width: 320, Height: 180, Stride: 320,
				Time: epoch.Add(time.Duration(i) * interval)})
			for _, c := range r.Changes {
				if c.Kind == motion.Ended {
					events = append(events, event{offset(c.Start), offset(c.Last)})
				}
			}
		}
		for _, hand := range []event{{5.7, 7.1}, {11.3, 13.5}, {15.9, 17.9}, {22.0, 24.5}, {27.4, 29.0}, {30.9, 32.1},
			{34.5, 36.8}} {
			require.True(t, slices.ContainsFunc(events, func(e event) bool {
				return e.began > hand.began-0.6 && e.began < hand.began+0.6 && e.ended > hand.ended-0.5 &&
					e.ended < hand.ended+0.6
			}), "of each %d pictures number %d: the hand from %v s to %v s: %.2f", sent.each, sent.first, hand.began,
				hand.ended, events)
		}
		require.LessOrEqual(t, len(events), 9)
	}
}

// offset is a time in seconds since picture 0.
func offset(t time.Time) float64 { return t.Sub(epoch).Seconds() }
