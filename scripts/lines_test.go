package scripts_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// How long lines may be, in characters; a tab counts 4.
const (
	codeMax    = 120
	commentMax = 100
)

// notYetHeld are the folders, with those below them, whose lines are still longer here and there.
var notYetHeld = []string{"agent", "cmd/vmsbridge", "cmd/vmscloud", "storage/boltfile", "storage/database",
	"storage/guard", "storage/journal", "uplink/client", "uplink/delivery", "uplink/mqtt", "uplink/server",
	"uplink/webhook"}

// held are folders in those that are held all the same.
var held = []string{"agent/camera", "agent/codec", "agent/discover", "agent/outbound",
	"cmd/vmsbridge/replay"}

// Lines of code and of comments are not longer than a screen shows.
func TestLinesAreNotTooLong(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		in := func(folder string) bool { return rel == folder || strings.HasPrefix(rel, folder+"/") }
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || slices.ContainsFunc(notYetHeld, in) &&
			!slices.ContainsFunc(held, in) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		for _, line := range tooLong(content) {
			t.Errorf("%s:%d: the line is longer than %d characters, or the comment than %d", rel, line, codeMax,
				commentMax)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, seen, 100, "the sources were not found")
}

// tooLong are the numbers of the lines that are too long. Lines that hold a part of a raw string
// are as long as that is: tags of fields, texts for people, JSON.
func tooLong(source []byte) (found []int) {
	raw, comment := map[int]bool{}, map[int]bool{}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			break
		}
		first, last := file.Line(pos), file.Line(pos)+strings.Count(text, "\n")
		switch {
		case kind == token.STRING && text[0] == '`':
			for n := first; n <= last; n++ {
				raw[n] = true
			}
		case kind == token.COMMENT:
			comment[first] = true
		}
	}
	for i, line := range strings.Split(string(source), "\n") {
		most := codeMax
		if comment[i+1] && strings.HasPrefix(strings.TrimSpace(line), "//") {
			most = commentMax
		}
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > most && !raw[i+1] {
			found = append(found, i+1)
		}
	}
	return found
}

// The rule can fail.
func TestLongLinesAreFound(t *testing.T) {
	long := strings.Repeat("x", 95)
	source := "package p\n\n// " + long + " " + long + "\nvar a = `" + long + long + "`\nvar b = \"" + long + long +
		"\"\n\n// " + long + "\nvar c = \"" + long + "\"\n"
	require.Equal(t, []int{3, 5}, tooLong([]byte(source)))
}
