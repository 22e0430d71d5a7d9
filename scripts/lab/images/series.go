package images

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func isImage(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm":
		return true
	}
	return false
}

// clipEndings are those of the usual clips, for a hint.
var clipEndings = []string{".mp4", ".mkv", ".avi", ".mov", ".ts", ".webm", ".mpg", ".mpeg", ".h264", ".h265", ".hevc",
	".mjpeg", ".gif"}

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
			if deeper, err := filepath.Glob(filepath.Join(dir, b, "*")); err == nil &&
				slices.ContainsFunc(deeper, isImage) {
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
	path string
	// the last number in the name, as written; all of them where that occurs twice in the series;
	// "" where those do
	digits string
	all    string // the numbers in the name, as written: 2026_11_22
	kind   string // the name without its digits: images of one series have the same
	key    []string
}

// series puts images in the order of their numbers. Images without a number are not of the series,
// unless it is only one.
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
		n := numbered{path: name, digits: runs[len(runs)-1], all: strings.Join(runs, "_"),
			kind: digits.ReplaceAllString(stem, "#")}
		for _, r := range runs {
			n.key = append(n.key, strings.TrimLeft(r, "0"))
		}
		kinds[n.kind]++
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("open %s: there are no numbered JPEG, PNG, BMP, TIFF, WebP or PPM images: name them "+
			"such as in000001.jpg", path)
	}
	if len(kinds) > 1 {
		var list []string
		most := all[0].kind
		for k, n := range kinds {
			list = append(list, fmt.Sprintf("%s (%d)", strings.ReplaceAll(k, "#", "1"), n))
			if n > kinds[most] || n == kinds[most] && k < most {
				most = k
			}
		}
		slices.Sort(list)
		return nil, fmt.Errorf("open %s: it holds several series of images, such as %s: give one of them as a "+
			"pattern in quotes, such as '%s'", path,
			strings.Join(list[:min(3, len(list))], ", "), patternFor(most, all))
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
			return nil, fmt.Errorf("open %s: %s and %s have the same number", path, filepath.Base(all[i-1].path),
				filepath.Base(all[i].path))
		}
	}
	tellApart(all)
	return all, nil
}

// tellApart makes the digits of the images differ: a name may end in a size or in the seconds of a
// time, and the images may lie in several folders.
func tellApart(all []numbered) {
	for _, other := range []func(numbered) string{func(n numbered) string { return n.all },
		func(numbered) string { return "" }} {
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

// patternFor is a pattern that names the images of a kind and no others, if one of a few does.
func patternFor(kind string, all []numbered) string {
	first := all[slices.IndexFunc(all, func(n numbered) bool { return n.kind == kind })].path
	pattern := ""
	for _, number := range []string{"*", "*[0-9]", "[0-9]*", "[0-9]*[0-9]"} {
		pattern = strings.ReplaceAll(kind, "#", number) + filepath.Ext(first)
		if !slices.ContainsFunc(all, func(n numbered) bool {
			ok, _ := filepath.Match(pattern, filepath.Base(n.path))
			return ok != (n.kind == kind)
		}) {
			break
		}
	}
	return filepath.Join(filepath.Dir(first), pattern)
}
