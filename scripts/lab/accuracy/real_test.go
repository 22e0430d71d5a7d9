package accuracy_test

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/motion"
	"vmsbridge/scripts/harness"
)

var (
	realSpans  = flag.Bool("spans", false, "TestReal: say what was found in each clip")
	onlyClips  = flag.String("clips", ".", "TestClips: only those whose names match")
	makingOnly = flag.Bool("making", false, "TestClips: look at the making part only, and begin in its midst")
	level      = flag.Float64("sensitivity", 0, "TestClips: the sensitivity, if not the default one")
)

// real is a clip of a real camera. Clips are input for measuring: they are not in the project, and
// a test that finds none of them is skipped.
type real struct {
	name  string // of truth/real.csv
	file  string // in the folder of the clips
	from  string // repository @ commit, and path there
	judge bool   // it is only looked at to judge: nothing was made by it
	night bool
}

// reals was split before any of the clips was looked at by the detector as it is now.
var reals = []real{
	{"persons", "one-by-one-person-detection.mp4",
		"intel-iot-devkit/sample-videos @ 579788908228, one-by-one-person-detection.mp4", false, false},
	{"bottles", "bottle-detection.mp4", "intel-iot-devkit/sample-videos @ 579788908228, bottle-detection.mp4", false,
		false},
	{"aboda4", "aboda4.avi", "kevinlin311tw/ABODA @ 08284de80c5a, video4.avi", false, false},
	{"rf_night", "rf_night.mp4", "rfmanz/surveillance @ 3f54ebfa30f9, night.mp4", false, true},
	{"wavingtrees", "wavingtrees.mkv", "ZiyangS/BackgroundSubtraction @ c038c7b3b524, WavingTrees at 15 a second",
		false, false},
	{"street", "deep.mp4", "deepufrk/Object_Detection @ 3313ca373d3c, cctv.mp4", false, true},
	{"lobby", "ahs1.mp4", "ahsanirfan961/Person-Tracker @ 060249cc9f34, videos/cctv.mp4", false, false},
	{"carpark", "car-detection.mp4", "intel-iot-devkit/sample-videos @ 579788908228, car-detection.mp4", false, false},
	{"traffic", "saj2.mp4", "sajadulakash/polygon-based-traffic-monitor @ f5a5a17, vdo2.mp4", true, false},
	{"cars", "bgs_video.avi", "andrewssobral/bgslibrary @ 4622bc9cded1, dataset/video.avi", true, false},
	{"office", "office.mkv", "e-sha/Background-subtraction @ 6fec8854e076, data/office/input at 25 a second", true,
		false},
	{"webcam", "sig1.h264", "signalogic/SigSRF_SDK @ cdae21b510b3, videos/sample_capture_test.h264", true, false},
	{"burglar", "burglar.mp4", "glennford49/media @ 74371ad3e081, burglar.mp4", true, false},
	{"ken_night", "ken_night.mp4", "ken2190/simple-tracking @ 448cb69d218f, videos/night.mp4", true, true},
	{"raccoons", "raccoons.mp4", "signalogic/SigSRF_SDK @ cdae21b510b3, videos/raccoons_invading_driveway.mp4", true,
		true},
	{"brightness", "brightness.avi",
		"Breakthrough/DVR-Scan @ b8b229edc48d, tests/resources/issue53_brightness_change.avi", true, false},
	{"courtyard", "courtyard.mp4", "GustavoRibeiroSantos/Visual-Computing-AI @ 4374fcd52ed1, security.mp4", false,
		false},
	{"yard", "yard.mp4", "GustavoRibeiroSantos/Visual-Computing-AI @ 4374fcd52ed1, security2.mp4", false, false},
	{"wall", "wall.mp4", "bhavicodey/AI-Video-Surveillance @ 71cb56768724, security.mp4", true, true},
	{"wetroad", "wetroad.mp4", "shreya12x/YOLO-VehicleCounting @ 47c72f4d68af, rainy.mp4", true, false},
	{"monsoon", "monsoon.mp4", "shreya12x/YOLO-VehicleCounting @ 47c72f4d68af, monsoon.mp4", true, false},
	{"shop", "shop.mp4",
		"ritambhra-thakur/shoplifting-ai-model @ 130aec82564a, shoplifting_videos/shoplifting1.mp4", false, false},
	{"stairs", "stairs.mp4",
		"sharath-yanamandra/security-cameras-locally @ cac51610580e, people_sitting_on_stairs.mp4", true, false},
	{"board", "board.mp4", "sorenvind/phd-motiondetectionindex @ 49bab39321bc, datasets/office-1m-480.mp4", false,
		false},
	{"ecuador", "ecuador.mp4", "ken2190/simple-tracking @ 448cb69d218f, videos/ecuador.mp4", false, false},
	{"rink", "rink.avi", "lamminhthien/Motion_Detector_OpenCV @ 2b00577e69a3, vtest.avi", true, false},
	{"atv", "ys_atv.mp4",
		"youngsoul/rpi-motion-detection-background-subtraction @ 76dda5fd779d, media/atv.mp4", false, false},
	{"atv2", "ys_atv2.mp4",
		"youngsoul/rpi-motion-detection-background-subtraction @ 76dda5fd779d, media/atv2.mp4", false, false},
	{"atv3", "ys_atv3.mp4",
		"youngsoul/rpi-motion-detection-background-subtraction @ 76dda5fd779d, media/atv3.mp4", false, false},
	{"bicycle", "ys_bicycle.mp4",
		"youngsoul/rpi-motion-detection-background-subtraction @ 76dda5fd779d, media/bicycle.mp4", false, false},
	{"bicycle2", "ys_bicycle2.mp4",
		"youngsoul/rpi-motion-detection-background-subtraction @ 76dda5fd779d, media/bicycle2.mp4", false, false},
	{"walkers", "ys_walkers.mp4",
		"youngsoul/rpi-motion-detection-background-subtraction @ 76dda5fd779d, media/walkers.mp4", false, false},
	{"crossing", "kg.mp4", "KGagandeep2911/Project-524---Computer-Vision @ ec6616c682ca, cctv.mp4", false, false},
	{"badger", "wildcam.mp4", "afaulconbridge/wildcamtools @ 7d8e41d48549, tests/data/test.mp4", false, true},
	{"shower", "pi_street.mp4", "pialin/transfer @ ff8fe2e32ed9, street.mp4", false, false},
	{"roof", "pi_roof.mp4", "pialin/transfer @ ff8fe2e32ed9, roof.mp4", false, false},
	{"restaurant", "grandma2.mp4", "DomKim/grandma-cctv @ ac0c0c7b7175, cctv2.mp4", false, false},
	{"carriageway", "bgs03.avi", "andrewssobral/bgslibrary @ 4622bc9cded1, dataset/video03.avi", false, false},
	{"hedge", "rulas_m1.mp4", "rulas/peoplecounter @ d39bcb4e543e, motion.mp4", true, false},
	{"dogs", "rulas_m2.mp4", "rulas/peoplecounter @ d39bcb4e543e, motion2.mp4", true, false},
	{"crosswalk", "rulas_car.mp4", "rulas/peoplecounter @ d39bcb4e543e, cartraffic.mp4", true, false},
	{"palms", "tyoh_night.mp4", "tyoh-love/Ondevice-AI @ 0456eabf49f1, night.mp4", true, true},
	{"brooder", "wijt.mp4", "Wijt/detect-motion @ 39823f854138, person.mp4", true, false},
	{"yard_rain", "pi_park.mp4", "pialin/transfer @ ff8fe2e32ed9, park.mp4", true, false},
	{"storm", "pi_rainstorm.mp4", "pialin/transfer @ ff8fe2e32ed9, rainstorm.mp4", true, false},
	{"green", "pi_night.mp4", "pialin/transfer @ ff8fe2e32ed9, night.mp4", true, true},
	{"saigon", "pi_Saigon.mp4", "pialin/transfer @ ff8fe2e32ed9, Saigon.mp4", true, false},
	{"doorway", "grandma8.mp4", "DomKim/grandma-cctv @ ac0c0c7b7175, cctv8.mp4", true, false},
	{"masked", "surya.mp4",
		"Surya-KF/AUTOMATOS-Automated-Surveillanceand-Messaging-System @ d2983905f975, Culprit_detected.mp4", true,
		true},
	{"platform", "dos.mp4", "ken2190/simple-tracking @ 448cb69d218f, videos/dos.mp4", true, false},
	// Those below judge where the last digit of the sha256 of the name of the repository is even.
	{"shopfront", "adith.mp4", "Adith25/Computer-Vision-Movement-Detector @ 7dca77c90871, cctv.mp4", false, false},
	{"garage", "yda.mp4", "ydasari20/CodeTest @ d6f846d4905a, CCTV.mp4", false, true},
	{"robbers", "shaurya.mp4", "shaurya-tiwari/DetectiveAI-camera @ 1b6d0c188141, videos/cam1.mp4", false, false},
	{"fog", "iacv_foreste.mp4",
		"federicoparroni/IACV_background_subtractor @ ba35ebdfe2e5, dataset/foreste/2019_1_14__16_6.mp4", false,
		false},
	{"fog_bend", "iacv_salitona.mp4",
		"federicoparroni/IACV_background_subtractor @ ba35ebdfe2e5, dataset/salitona/2019_1_14__16_5.mp4", false,
		false},
	{"river", "chimp.mp4", "drivendataorg/zamba @ 284a18945b96, tests/assets/densepose_tests/chimp.mp4", false,
		false},
	{"bedroom", "chuyko1.mp4", "ChuykoMihail/ReId @ 41d09b335abf, cam1.mp4", false, false},
	{"closet", "chuyko2.mp4", "ChuykoMihail/ReId @ 41d09b335abf, cam2.mp4", false, false},
	{"hardware", "tyoh_shop.mp4", "tyoh-love/Ondevice-AI @ 0456eabf49f1, shop.mp4", false, false},
	{"bag", "vinitop.mp4", "vinitop/CityWatch @ 9c020c8bf6ab, theft.mp4", false, false},
	{"highway", "yakovdan.mkv", "yakovdan/Background-Subtraction @ 131c8bc8b7ca, input at 25 a second", false, false},
	{"clouds", "thaitin.mkv", "ThaiTin/data_Tin @ ecadb1edb346, input at 10 a second", false, false},
	{"stairwell", "anu.mp4", "anubhavm55/dsp_video @ 417b55c43453, CCTV.mp4", true, false},
	{"lot_out", "h8_1.mp4", "H8-Assignments-Bay/p2---final-project-ftds-015-rmt-002 @ c25b0341f096, cctv1.mp4", true,
		false},
	{"lot_walker", "h8_2.mp4", "H8-Assignments-Bay/p2---final-project-ftds-015-rmt-002 @ c25b0341f096, cctv2.mp4",
		true, false},
	{"above", "sam1.mp4", "Samuel981/projeto-IoT-unidade2 @ ad2346c5cd5a, cam1.mp4", true, false},
	{"above_out", "sam3.mp4", "Samuel981/projeto-IoT-unidade2 @ ad2346c5cd5a, cam3.mp4", true, false},
	{"taxi", "akhil.mp4", "Akhil-2001/Motion-Detection @ 47cea62b219e, footage.mp4", true, false},
}

// realRate is how many pictures a second of them the detector sees.
const realRate = 10

//go:embed truth/real.csv
var realTruth []byte

// passage is what happens in a part of a clip, in seconds.
type passage struct {
	kind       string
	start, end float64
}

// truths are the passages of each clip.
func truths(t testing.TB) map[string][]passage {
	r := csv.NewReader(bytes.NewReader(realTruth))
	r.Comment = '#'
	lines, err := r.ReadAll()
	require.NoError(t, err)
	all := map[string][]passage{}
	for _, line := range lines[1:] {
		var p passage
		p.kind = line[1]
		p.start, err = strconv.ParseFloat(line[2], 64)
		require.NoError(t, err)
		p.end, err = strconv.ParseFloat(line[3], 64)
		require.NoError(t, err)
		all[line[0]] = append(all[line[0]], p)
	}
	return all
}

// realDir is where the real clips lie: $VMSBRIDGE_REAL.
func realDir(t testing.TB) string {
	dir := os.Getenv("VMSBRIDGE_REAL")
	if dir == "" {
		t.Skip("VMSBRIDGE_REAL does not name a folder with the clips that motion/ACCURACY.md lists")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed, the clips cannot be decoded: apt install ffmpeg (scripts/deps does)")
	}
	return dir
}

// film is what the detector sees of a clip.
type film struct {
	width, height int
	pictures      []byte // one after another
}

func (f film) count() int { return len(f.pictures) / (f.width * f.height) }

// watch decodes a clip at realRate as the agent hands it to the detector. What was decoded is kept
// beside the clips, in a folder of its own.
func watch(t testing.TB, file string) film {
	w, h := sizeOf(t, file)
	var f film
	f.width, f.height = planar.Fit(w, h, workPixels)
	st, err := os.Stat(file)
	require.NoError(t, err)
	kept := filepath.Join(filepath.Dir(file), "luma", fmt.Sprintf("%s-%d-%d", filepath.Base(file), st.Size(),
		st.ModTime().UnixNano()))
	if f.pictures, err = os.ReadFile(kept); err == nil {
		return f
	}
	f.pictures = grays(t, file, f.width, f.height, nil)
	require.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	require.NoError(t, os.WriteFile(kept, f.pictures, 0o644))
	return f
}

// coded is the clip as a camera sends it: realRate pictures a second at 512 kbit/s, 640 pixels wide
// at most. It is kept beside the clips. Without a codec it is the clip itself.
func coded(t testing.TB, file, codec string) string {
	if codec == "" {
		return file
	}
	made := filepath.Join(filepath.Dir(file), "coded", filepath.Base(file)+"."+codec+".mkv")
	if _, err := os.Stat(made); err == nil {
		return made
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(made), 0o755))
	args := []string{"-v", "error", "-nostdin", "-y", "-i", file, "-an", "-vf",
		fmt.Sprintf("fps=%d,scale='min(640,iw)':-2:flags=area", realRate), "-c:v", codec, "-preset", "veryfast", "-b:v",
		"512k", "-maxrate", "512k", "-bufsize", "512k", "-g", "20", "-pix_fmt", "yuv420p"}
	if codec == "libx265" {
		args = append(args, "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=20")
	}
	said, err := exec.Command("ffmpeg", append(args, made+".part.mkv")...).CombinedOutput()
	require.NoError(t, err, string(said))
	require.NoError(t, os.Rename(made+".part.mkv", made))
	return made
}

// sizeOf is the size of a clip's pictures.
func sizeOf(t testing.TB, file string) (w, h int) {
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height",
		"-of", "csv=p=0", file).Output()
	require.NoError(t, err, file)
	_, err = fmt.Sscanf(strings.TrimSpace(string(out)), "%d,%d", &w, &h)
	require.NoError(t, err, file)
	return w, h
}

// grays are the pictures of a clip at realRate in one size; input says which part of it.
func grays(t testing.TB, file string, w, h int, input []string) []byte {
	args := slices.Concat([]string{"-v", "error", "-nostdin"}, input, []string{"-i", file, "-vf",
		fmt.Sprintf("fps=%d,scale=%d:%d:flags=area:out_range=pc,format=gray", realRate, w, h), "-f", "rawvideo", "-"})
	cmd := exec.Command("ffmpeg", args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	all, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), complaints.String())
	return all
}

// spansOf are the spans that a detector finds in the film.
func spansOf(t testing.TB, f film, c motion.Config) []found {
	d, err := motion.New(c)
	require.NoError(t, err)
	var events []found
	take := func(changes []motion.Change) {
		for _, ch := range changes {
			if ch.Kind == motion.Ended {
				events = append(events, found{offset(ch.Start), offset(ch.Last)})
			}
		}
	}
	size := f.width * f.height
	for i := range f.count() {
		r := d.Step(motion.Picture{Luma: f.pictures[i*size : (i+1)*size], Width: f.width, Height: f.height,
			Stride: f.width, Time: epoch.Add(time.Duration(i) * time.Second / realRate)})
		take(r.Changes)
	}
	take(d.Gap())
	return events
}

// tally is what became of the motions of some clips.
type tally struct {
	motions, found, splits, alarms int
	quiet                          float64 // seconds
	onset, end                     []float64
	hit                            []bool // each motion, in order
}

func (a *tally) add(b tally) {
	a.motions, a.found, a.splits, a.alarms = a.motions+b.motions, a.found+b.found, a.splits+b.splits, a.alarms+b.alarms
	a.quiet += b.quiet
	a.onset, a.end, a.hit = append(a.onset, b.onset...), append(a.end, b.end...), append(a.hit, b.hit...)
}

func (a *tally) String() string {
	return fmt.Sprintf("%d of %d found, %d splits, %d false starts in %.1f min, onset p50/p95 %.2f/%.2f s, "+
		"end %.2f/%.2f s",
		a.found, a.motions, a.splits, a.alarms, a.quiet/60, percentileOf(a.onset, 0.5), percentileOf(a.onset, 0.95),
		percentileOf(a.end, 0.5), percentileOf(a.end, 0.95))
}

// cells are the columns of a table's line.
func (a *tally) cells() string {
	return fmt.Sprintf("%d | %d | %d | %.1f | %d | %.2f / %.2f | %.2f / %.2f |", a.motions, a.found, a.alarms,
		a.quiet/60, a.splits, percentileOf(a.onset, 0.5), percentileOf(a.onset, 0.95), percentileOf(a.end, 0.5),
		percentileOf(a.end, 0.95))
}

const early = 1.0 // seconds, by which an event may begin before the motion that it is of

// scored holds events against what is true. Motions closer than the quiet period are one; an event
// that begins where all is quiet is false, and finds nothing. The start of one that runs already,
// as somebody stands and stirs, says nothing of when the motion is noticed.
func scored(passages []passage, events []found) tally {
	var a tally
	var motions []passage
	for _, p := range passages {
		n := len(motions)
		switch {
		case p.kind == "quiet":
			a.quiet += p.end - p.start
		case p.kind != "motion":
		case n > 0 && p.start-motions[n-1].end < joins:
			motions[n-1].end = p.end
		default:
			motions = append(motions, p)
		}
	}
	in := func(e found, kind string, before float64) bool {
		return slices.ContainsFunc(passages, func(p passage) bool {
			return p.kind == kind && e.start >= p.start-before && e.start <= p.end+0.3
		})
	}
	events = slices.DeleteFunc(slices.Clone(events), func(e found) bool {
		alarm := in(e, "quiet", 0) && !in(e, "motion", early) && !in(e, "still", 0) && !in(e, "rest", 0)
		if alarm {
			a.alarms++
		}
		return alarm
	})
	for i, m := range motions {
		a.motions++
		until := m.end
		var mine []found
		for _, e := range events {
			if e.start < until && e.last >= m.start {
				mine = append(mine, e)
			}
		}
		a.hit = append(a.hit, len(mine) > 0)
		if len(mine) == 0 {
			continue
		}
		a.found++
		a.splits += len(mine) - 1
		began := mine[0]
		runs := began.start < m.start && (in(began, "still", 0) || in(began, "rest", 0))
		if !runs && (i == 0 || began.start > motions[i-1].end) {
			a.onset = append(a.onset, mine[0].start-m.start)
		}
		quietAfter := slices.ContainsFunc(passages, func(p passage) bool {
			return p.kind == "quiet" && p.start >= m.end && p.start-m.end < 1
		})
		if last := mine[len(mine)-1].last; quietAfter && (i+1 == len(motions) || last < motions[i+1].start) {
			a.end = append(a.end, last-m.end)
		}
	}
	return a
}

// realTally is the sum of all real clips of one part that are there, and of those by night; as they
// are, or as a camera codes them.
func realTally(t testing.TB, dir string, judge bool, codec string, c motion.Config) (all, night tally) {
	passages := truths(t)
	only := regexp.MustCompile(*onlyClips)
	for _, r := range reals {
		file := filepath.Join(dir, r.file)
		if _, err := os.Stat(file); err != nil || r.judge != judge || !only.MatchString(r.name) {
			continue
		}
		events := spansOf(t, watch(t, coded(t, file, codec)), c)
		a := scored(passages[r.name], events)
		if *realSpans {
			fmt.Printf("%-12s %s %.1f\n", r.name, &a, events)
		}
		if all.add(a); r.night {
			night.add(a)
		}
	}
	return all, night
}

// startTally is what is found of the motions of one part when the first picture is in the midst of
// them, a bit after they began.
func startTally(t testing.TB, dir string, judge bool, c motion.Config) (all tally) {
	const into, after = 0.3, 4.0 // seconds
	known := truths(t)
	only := regexp.MustCompile(*onlyClips)
	for _, r := range reals {
		file := filepath.Join(dir, r.file)
		if _, err := os.Stat(file); err != nil || r.judge != judge || !only.MatchString(r.name) {
			continue
		}
		f := watch(t, file)
		for _, m := range known[r.name] {
			if m.kind != "motion" || m.end-m.start < 1.2 {
				continue
			}
			from, to := m.start+into, min(m.end+after, float64(f.count())/realRate)
			size := f.width * f.height
			part := film{f.width, f.height, f.pictures[int(from*realRate)*size : int(to*realRate)*size]}
			var passages []passage
			for _, p := range known[r.name] {
				if p.end > from && p.start < to {
					passages = append(passages, passage{p.kind, max(0, p.start-from), min(to, p.end) - from})
				}
			}
			events := spansOf(t, part, c)
			a := scored(passages, events)
			if *realSpans {
				fmt.Printf("start %-12s %.1f %s %.1f\n", r.name, from, &a, events)
			}
			all.add(a)
		}
	}
	return all
}

// TestClips says what the detector finds in real clips, as they are and as cameras code them.
func TestClips(t *testing.T) {
	if harness.Race {
		t.Skip("the detector alone decides here; the race detector finds nothing in it")
	}
	dir := realDir(t)
	c := motion.Config{Sensitivity: *level}
	for _, judge := range []bool{false, true} {
		if judge && *makingOnly {
			starts := startTally(t, dir, false, c)
			scenes := drawnTally(t, dir, c)
			t.Logf("begun in the midst: %s; drawn: %s", &starts, &scenes)
			break
		}
		for _, codec := range codecs {
			if *makingOnly && codec != "" {
				continue
			}
			all, night := realTally(t, dir, judge, codec, c)
			t.Logf("judging %v, %s: %s; by night %s", judge, codec, &all, &night)
		}
	}
}

// codecs are how the real clips are looked at: as they are, and coded as cameras do.
var codecs = []string{"", "libx264", "libx265"}

// TestReal says what the detector finds in real clips and in composites of them.
func TestReal(t *testing.T) {
	if harness.Race {
		t.Skip("the detector alone decides here; the race detector finds nothing in it")
	}
	realDir(t)
	for l := range strings.Lines(realTable(t)) {
		t.Log(strings.TrimSpace(l))
	}
}

// realTable is what is found in real clips and in composites, for motion/ACCURACY.md.
func realTable(t testing.TB) string {
	dir := os.Getenv("VMSBRIDGE_REAL")
	var b strings.Builder
	b.WriteString("## Real clips, and composites of them\n\n")
	if dir == "" {
		b.WriteString("Not there when this was written: VMSBRIDGE_REAL names the folder of the clips.\n\n")
		return b.String()
	}
	b.WriteString("What was made by the first part is judged by the second. In a composite somebody or something is " +
		"cut out of one clip and put on another,\n12 to 200 pixels high and 5 to 80 grey levels apart from it, coded " +
		"as H.264 or H.265 at 256 kbit/s to 2 Mbit/s.\nA false start is an event that begins where a clip is quiet." +
		"\n\n| | motions | found | false starts | quiet, min | splits | start p50 / p95, s | end p50 / p95, s |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, part := range []struct {
		name  string
		judge bool
	}{{"making", false}, {"judging", true}} {
		for _, codec := range codecs {
			all, night := realTally(t, dir, part.judge, codec, motion.Config{})
			fmt.Fprintf(&b, "| real, %s%s | %s\n| of these by night | %s\n", part.name,
				map[string]string{"": "", "libx264": ", H.264 512 kbit/s", "libx265": ", H.265 512 kbit/s"}[codec],
				all.cells(), night.cells())
		}
		made := compositeTally(t, dir, part.judge, motion.Config{})
		fmt.Fprintf(&b, "| composites, %s | %s\n", part.name, made.cells())
	}
	b.WriteString("\n| clip | part | where from |\n|---|---|---|\n")
	for _, r := range reals {
		part := "making"
		if r.judge {
			part = "judging"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.name, part, r.from)
	}
	b.WriteString("\n")
	return b.String()
}
