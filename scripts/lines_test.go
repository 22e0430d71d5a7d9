package scripts_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
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

// An address in a string is one word, and as long as it is.
var address = regexp.MustCompile(`"[^" ]{50,}`)

// tooLong are the numbers of the lines that are too long. Lines that hold a part of a raw string
// are as long as that is: tags of fields, texts for people, JSON. Examples and tables in comments
// are code.
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
		if text := strings.TrimSpace(line); comment[i+1] && strings.HasPrefix(text, "//") &&
			!strings.HasPrefix(text, "//\t") {
			most = commentMax
		}
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > most && !raw[i+1] &&
			!address.MatchString(line) {
			found = append(found, i+1)
		}
	}
	return found
}

// The rule can fail.
func TestLongLinesAreFound(t *testing.T) {
	long := strings.Repeat("x", 95)
	words := strings.Repeat("some words ", 12)
	source := "package p\n\n// " + long + " " + long + "\nvar a = `" + words + "`\nvar b = \"" + words +
		"\"\n\n// " + long + "\nvar c = \"" + long + "\"\n\n//\t" + long + long + "\nvar d = \"" + long + long + "\"\n"
	require.Equal(t, []int{3, 5, 10}, tooLong([]byte(source)))
}
