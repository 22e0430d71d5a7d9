package accuracy_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// cutout is a part of a real clip in which somebody or something moves before a still background.
type cutout struct {
	clip       string // of reals
	start, end float64
	bare       float64 // when nobody was there, for half a second
	judge      bool
}

var cutouts = []cutout{
	{"persons", 6.0, 8.1, 5.0, false},
	{"persons", 18.1, 19.8, 21.5, false},
	{"persons", 43.3, 45.1, 47.5, false},
	{"street", 0.4, 4.8, 6.2, false},
	{"bottles", 10.9, 13.5, 8.5, false},
	{"cars", 6.6, 8.7, 9.0, true},
	{"cars", 9.7, 12.1, 9.0, true},
	{"burglar", 12.8, 14.5, 12.0, true},
	{"office", 23.5, 28.5, 21.0, true},
	{"office", 76.5, 81.6, 21.0, true},
}

// place is a part of a real clip in which nothing is to be found.
type place struct {
	clip          string
	start, length float64
	judge         bool
}

var places = []place{
	{"rf_night", 100, 12, false},
	{"rf_night", 112, 12, false},
	{"rf_night", 124, 12, false},
	{"wavingtrees", 3.5, 12, false},
	{"rf_night", 137, 12, true},
	{"rf_night", 149, 12, true},
	{"rf_night", 162, 12, true},
	{"office", 0, 11, true},
	{"office", 11, 11, true},
}

// composite is a cutout put on a place, and coded as a camera does it.
type composite struct {
	who      cutout
	where    place
	height   int     // pixels
	contrast float64 // mean difference from what it hides, in grey levels; below 0 it is darker
	codec    string
	kilobits int
	x, y     float64 // where in the picture, 0 to 1
}

// composites are as many of each part.
func composites(judge bool) []composite {
	var who []cutout
	var where []place
	for _, c := range cutouts {
		if c.judge == judge {
			who = append(who, c)
		}
	}
	for _, p := range places {
		if p.judge == judge {
			where = append(where, p)
		}
	}
	heights := []int{110, 60, 200, 24, 80, 40, 140, 12}
	contrasts := []float64{20, -30, 50, 10, -12, 35, -20, 80, 5}
	rates := []int{512, 256, 1024, 2048}
	var all []composite
	for i := range 24 {
		c := composite{who: who[i%len(who)], where: where[(i/2)%len(where)], height: heights[i%len(heights)],
			contrast: contrasts[i%len(contrasts)], codec: []string{"libx264", "libx265"}[i%2],
			kilobits: rates[(i/2)%len(rates)], x: float64(i*7%10) / 9, y: 0.3 + 0.7*float64(i*3%10)/9}
		all = append(all, c)
	}
	return all
}

func (c composite) String() string {
	return fmt.Sprintf("%s %.1f s on %s %.0f s, %d pixels high, %+.0f levels, %s, %d kbit/s", c.who.clip, c.who.start,
		c.where.clip, c.where.start, c.height, c.contrast, c.codec, c.kilobits)
}

// passages are those of the composite's clip.
func (c composite) passages(length float64) []passage {
	return []passage{{"quiet", 0.5, enters - 0.5}, {"motion", enters, enters + length},
		{"quiet", enters + length + 0.2, c.where.length}}
}

const enters = 6.0 // seconds, after which who is put there is seen

// realFile is where the clip of a name lies.
func realFile(dir, name string) string {
	for _, r := range reals {
		if r.name == name {
			return filepath.Join(dir, r.file)
		}
	}
	return ""
}

// compositeTally is the sum of the composites of one part whose clips are there.
func compositeTally(t testing.TB, dir string, judge bool, config motion.Config) tally {
	var all tally
	for _, c := range composites(judge) {
		missing := false
		for _, name := range []string{c.who.clip, c.where.clip} {
			_, err := os.Stat(realFile(dir, name))
			missing = missing || err != nil
		}
		if missing {
			continue
		}
		file, length := c.make(t, dir)
		events := spansOf(t, watch(t, file), config)
		a := scored(c.passages(length), events)
		if *realSpans {
			fmt.Printf("%v: %s %.1f\n", c, &a, events)
		}
		all.add(a)
	}
	return all
}

// make writes the composite as a clip, if it is not there yet, and tells for how long it moves.
func (c composite) make(t testing.TB, dir string) (file string, length float64) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", c)
	file = filepath.Join(dir, "composites", fmt.Sprintf("%016x.mkv", h.Sum64()))
	frames := int((c.who.end-c.who.start)*realRate + 0.5)
	frames = min(frames, int((c.where.length-enters)*realRate)-8)
	length = float64(frames) / realRate
	if _, err := os.Stat(file); err == nil {
		return file, length
	}
	w, hgt := sizeOf(t, realFile(dir, c.where.clip))
	ground := grays(t, realFile(dir, c.where.clip), w, hgt, section(c.where.start, c.where.length))
	s := cut(t, realFile(dir, c.who.clip), c.who, frames)
	for i := range min(frames, len(s.pictures)) {
		at := (int(enters*realRate) + i) * w * hgt
		if at+w*hgt <= len(ground) {
			s.put(ground[at:at+w*hgt], w, hgt, i, c)
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	args := []string{"-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s",
		fmt.Sprintf("%dx%d", w, hgt), "-r", fmt.Sprint(realRate), "-i", "-", "-c:v", c.codec, "-preset", "veryfast",
		"-tune", "zerolatency", "-b:v", fmt.Sprintf("%dk", c.kilobits), "-maxrate", fmt.Sprintf("%dk", c.kilobits),
		"-bufsize", fmt.Sprintf("%dk", c.kilobits), "-g", "20", "-pix_fmt", "yuv420p"}
	if c.codec == "libx265" {
		args = append(args, "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=20")
	}
	cmd := exec.Command("ffmpeg", append(args, file+".part.mkv")...)
	cmd.Stdin = bytes.NewReader(ground)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	require.NoError(t, os.Rename(file+".part.mkv", file))
	return file, length
}

// section is ffmpeg's arguments for a part of a clip.
func section(start, length float64) []string {
	return []string{"-ss", fmt.Sprintf("%.3f", start), "-t", fmt.Sprintf("%.3f", length)}
}

// scissors are what was cut out.
type scissors struct {
	width, height int
	pictures      [][]byte
	masks         [][]bool
	high          int     // height of the thing at most
	mean          float64 // its brightness
	left, top     int     // of everything
	right, bottom int
}

const differs = 14 // grey levels, from which a pixel belongs to the thing

func cut(t testing.TB, file string, c cutout, frames int) *scissors {
	w, h := sizeOf(t, file)
	for w > 800 {
		w, h = w/2, h/2
	}
	s := &scissors{width: w, height: h, left: w, top: h}
	bare := grays(t, file, w, h, section(c.bare, 0.5))
	all := grays(t, file, w, h, section(c.start, c.end-c.start))
	n := len(bare) / (w * h)
	require.Positive(t, n, file)
	ground := make([]byte, w*h)
	for i := range ground {
		var v []byte
		for k := range n {
			v = append(v, bare[k*w*h+i])
		}
		slices.Sort(v)
		ground[i] = v[n/2]
	}
	sum, count := 0, 0
	for k := range min(frames, len(all)/(w*h)) {
		p := all[k*w*h : (k+1)*w*h]
		mask := make([]bool, w*h)
		top, bottom := h, 0
		for y := 2; y < h-2; y++ {
			inRow := 0
			for x := 2; x < w-2; x++ {
				near := 0
				for dy := -2; dy <= 2; dy++ {
					for dx := -2; dx <= 2; dx++ {
						at := (y+dy)*w + x + dx
						if abs(int(p[at])-int(ground[at])) >= differs {
							near++
						}
					}
				}
				if near < 14 {
					continue
				}
				mask[y*w+x] = true
				inRow++
				sum, count = sum+int(p[y*w+x]), count+1
				s.left, s.right = min(s.left, x), max(s.right, x+1)
			}
			if inRow > 2 {
				top, bottom = min(top, y), y+1
			}
		}
		if bottom > top {
			s.high, s.top, s.bottom = max(s.high, bottom-top), min(s.top, top), max(s.bottom, bottom)
		}
		s.pictures, s.masks = append(s.pictures, p), append(s.masks, mask)
	}
	require.Positive(t, count, "nothing moves in %s from %v s", file, c.start)
	s.mean = float64(sum) / float64(count)
	return s
}

// put draws picture i of the thing onto a picture, so that it hides what is there.
func (s *scissors) put(onto []byte, w, h, i int, c composite) {
	scale := float64(c.height) / float64(s.high)
	left := c.x * max(0, float64(w)-scale*float64(s.right-s.left))
	top := c.y * max(0, float64(h)-scale*float64(s.bottom-s.top))
	behind, count := 0, 0
	each := func(take func(at int, cover, light float64)) {
		for y := max(0, int(top)); y < h; y++ {
			for x := max(0, int(left)); x < w; x++ {
				if cover, light := s.sample(i, (float64(x)-left)/scale, (float64(y)-top)/scale, 1/scale); cover > 0 {
					take(y*w+x, cover, light)
				}
			}
		}
	}
	each(func(at int, _, _ float64) { behind, count = behind+int(onto[at]), count+1 })
	if count == 0 {
		return
	}
	texture := min(1, max(0.2, math.Abs(c.contrast)/40))
	middle := float64(behind)/float64(count) + c.contrast
	each(func(at int, cover, light float64) {
		v := middle + texture*(light-s.mean)
		onto[at] = byte(min(255, max(0, (1-cover)*float64(onto[at])+cover*v)))
	})
}

// sample is how much of a square of the picture is the thing, and how bright that is; x and y are
// from the corner of all that moves.
func (s *scissors) sample(i int, x, y, side float64) (cover, light float64) {
	const across = 3
	if x < 0 || y < 0 || x > float64(s.right-s.left) || y > float64(s.bottom-s.top) {
		return 0, 0
	}
	n := 0
	for a := range across {
		for b := range across {
			px := s.left + int(x+side*(float64(a)+0.5)/across)
			py := s.top + int(y+side*(float64(b)+0.5)/across)
			if px < s.width && py < s.height && s.masks[i][py*s.width+px] {
				n++
				light += float64(s.pictures[i][py*s.width+px])
			}
		}
	}
	if n == 0 {
		return 0, 0
	}
	return float64(n) / (across * across), light / float64(n)
}
