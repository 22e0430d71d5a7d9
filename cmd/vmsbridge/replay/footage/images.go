package footage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/planar"
)

// images is a series of image files, decoded by several goroutines a little ahead.
type images struct {
	step  time.Duration
	stop  context.CancelFunc
	order chan chan Picture // results, in the order of the series
	wait  sync.WaitGroup
	ctx   error // why the series was given up; set before order is closed

	count, damaged int
	first          error
}

func isImage(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm":
		return true
	}
	return false
}

// clipEndings are those of the usual clips, for a hint.
var clipEndings = []string{".mp4", ".mkv", ".avi", ".mov", ".ts", ".webm", ".mpg", ".mpeg", ".h264", ".h265", ".hevc", ".mjpeg", ".gif"}

// imagesOf lists the images of a folder.
func imagesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	var names, below []string
	clip := ""
	for _, e := range entries {
		switch {
		case e.IsDir():
			below = append(below, e.Name())
		case clip == "" && slices.Contains(clipEndings, strings.ToLower(filepath.Ext(e.Name()))):
			clip = filepath.Join(dir, e.Name())
		case isImage(e.Name()) && !strings.HasPrefix(e.Name(), "."):
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		hint := "give a folder with JPEG, PNG, BMP, TIFF, WebP or PPM images, such as in000001.jpg"
		for _, b := range below {
			if deeper, err := filepath.Glob(filepath.Join(dir, b, "*")); err == nil && slices.ContainsFunc(deeper, isImage) {
				hint = "there are some in " + filepath.Join(dir, b)
				break
			}
		}
		if clip != "" {
			hint = "give the clips themselves, such as " + clip
		}
		return nil, fmt.Errorf("open %s: there is no image in this folder: %s", dir, hint)
	}
	return names, nil
}

// digits are the runs of digits in a name.
var digits = regexp.MustCompile(`\d+`)

// numbered is an image and its place in the series.
type numbered struct {
	path   string
	digits string // the last number in the name, as written; all of them where that occurs twice in the series; "" where those do
	all    string // the numbers in the name, as written: 2026_11_22
	kind   string // the name without its digits: images of one series have the same
	key    []string
}

// series puts images in the order of their numbers. Images without a number are not of the series, unless it is only one.
func series(path string, names []string) ([]numbered, error) {
	var all []numbered
	kinds := map[string]int{}
	for _, name := range names {
		base := filepath.Base(name)
		stem := strings.TrimSuffix(base, filepath.Ext(base))
		runs := digits.FindAllString(stem, -1)
		if !isImage(name) || len(runs) == 0 {
			continue
		}
		n := numbered{path: name, digits: runs[len(runs)-1], all: strings.Join(runs, "_"), kind: digits.ReplaceAllString(stem, "#")}
		for _, r := range runs {
			n.key = append(n.key, strings.TrimLeft(r, "0"))
		}
		kinds[n.kind]++
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("open %s: there are no numbered JPEG, PNG, BMP, TIFF, WebP or PPM images: name them such as in000001.jpg", path)
	}
	if len(kinds) > 1 {
		var list []string
		for k, n := range kinds {
			list = append(list, fmt.Sprintf("%s (%d)", strings.ReplaceAll(k, "#", "1"), n))
		}
		slices.Sort(list)
		return nil, fmt.Errorf("open %s: it holds several series of images, such as %s: give one of them as a pattern in quotes, such as '%s'", path,
			strings.Join(list[:min(3, len(list))], ", "), filepath.Join(filepath.Dir(all[0].path), strings.SplitN(all[0].kind, "#", 2)[0]+"*"))
	}
	slices.SortStableFunc(all, func(a, b numbered) int {
		for i := range min(len(a.key), len(b.key)) {
			if c := cmp.Or(cmp.Compare(len(a.key[i]), len(b.key[i])), cmp.Compare(a.key[i], b.key[i])); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(len(a.key), len(b.key)), cmp.Compare(a.path, b.path))
	})
	for i := 1; i < len(all); i++ {
		if slices.Equal(all[i].key, all[i-1].key) && filepath.Dir(all[i].path) == filepath.Dir(all[i-1].path) {
			return nil, fmt.Errorf("open %s: %s and %s have the same number", path, filepath.Base(all[i-1].path), filepath.Base(all[i].path))
		}
	}
	tellApart(all)
	return all, nil
}

// tellApart makes the digits of the images differ: a name may end in a size or in the seconds of a time, and the images may lie in several folders.
func tellApart(all []numbered) {
	for _, other := range []func(numbered) string{func(n numbered) string { return n.all }, func(numbered) string { return "" }} {
		seen := map[string]bool{}
		for _, n := range all {
			seen[n.digits] = true
		}
		if len(seen) == len(all) {
			return
		}
		for i := range all {
			all[i].digits = other(all[i])
		}
	}
}

// openImages reads image files as a series. Gaps in the numbers do not count: the pictures follow one another at the rate.
func openImages(ctx context.Context, path string, names []string, o Options) (*Footage, error) {
	all, err := series(path, names)
	if err != nil {
		return nil, err
	}
	rate := o.Rate
	if rate <= 0 {
		rate = DefaultRate
	}
	ctx, stop := context.WithCancel(ctx)
	m := &images{step: interval(rate), stop: stop, order: make(chan chan Picture, 2*runtime.GOMAXPROCS(0))}
	type job struct {
		i  int
		to chan Picture
	}
	jobs := make(chan job)
	library := jpeg.Open(nil)
	for range runtime.GOMAXPROCS(0) {
		m.wait.Go(func() {
			for j := range jobs {
				p := Picture{Number: j.i, Digits: all[j.i].digits, At: time.Duration(j.i) * m.step}
				p.Image, p.Damaged = decodeImage(library, all[j.i].path)
				j.to <- p // has room
			}
		})
	}
	m.wait.Go(func() {
		defer close(m.order)
		defer close(jobs)
		for i := range all {
			to := make(chan Picture, 1)
			select {
			case m.order <- to:
			case <-ctx.Done():
				m.ctx = ctx.Err()
				return
			}
			select {
			case jobs <- job{i, to}:
			case <-ctx.Done():
				m.ctx = ctx.Err()
				close(to)
				return
			}
		}
	})
	return &Footage{Info: Info{Pictures: len(all), Length: time.Duration(len(all)) * m.step, Rate: rate}, from: m}, nil
}

func (m *images) next() (Picture, error) {
	for to := range m.order {
		p, ok := <-to
		if !ok {
			continue
		}
		m.count++
		if p.Damaged != nil {
			if m.damaged++; m.damaged == 1 {
				m.first = p.Damaged
			}
		}
		return p, nil
	}
	switch {
	case m.ctx != nil:
		return Picture{}, m.ctx
	case m.damaged == m.count:
		return Picture{}, fmt.Errorf("no image of the series can be read; the first: %w", m.first)
	}
	return Picture{}, io.EOF
}

func (m *images) complaint() string {
	if m.damaged == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d images cannot be read and were passed over; the first: %v", m.damaged, m.count, m.first)
}

func (m *images) close() {
	m.stop()
	for range m.order {
	}
	m.wait.Wait()
}

// maxImageFile bounds what is read of one image.
const maxImageFile = 256 << 20

func decodeImage(library *jpeg.Codec, path string) (planar.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return planar.Image{}, fmt.Errorf("open image: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxImageFile+1))
	if err == nil && len(data) > maxImageFile {
		err = errors.New("it is too large")
	}
	if err != nil {
		return planar.Image{}, fmt.Errorf("read image %s: %w", path, err)
	}
	m, err := decodePixels(library, data)
	if err != nil {
		return planar.Image{}, fmt.Errorf("read image %s: %w", path, err)
	}
	return m, nil
}
