package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: whatever the file holds, Parse returns a checked configuration or problems with a
// place inside the file.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yaml", "*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds for %s: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		if strings.Contains(string(content), "/") && strings.Contains(string(content), "_file") {
			return // names files of this machine, such as /dev/tty
		}
		cfg, err := Parse(filepath.Join(dir, "x.yaml"), content)
		if err == nil {
			if cfg == nil || cfg.Stills.MaxSize < 4*cfg.Stills.SegmentSize || cfg.Stills.Quality < 1 {
				t.Fatalf("accepted %+v", cfg)
			}
			return
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 {
			t.Fatalf("error is not Problems: %v", err)
		}
		lines := strings.Count(string(content), "\n") + strings.Count(string(content), "\r") +
			strings.Count(string(content), "\u0085") +
			strings.Count(string(content), "\u2028") + strings.Count(string(content), "\u2029") + 2
		for _, p := range problems {
			if p.Line < 1 || p.Col < 1 || p.Line > lines || strings.ContainsAny(p.Message, "\n\r") {
				t.Fatalf("bad place or message: %q (%d lines)", p, lines)
			}
		}
	})
}
