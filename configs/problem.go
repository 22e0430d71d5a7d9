package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a file, with its place. Line and Col count from 1. Path is
// the key's way from the top, such as cameras[0].url; it is empty when the whole file is meant.
// Message is a sentence for a person and never holds a secret.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// String is file:line:col: path: message, the form that editors jump to.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Col, p.Path, p.Message)
}

// Problems is everything that is wrong in a file, in the file's order. It is the error of Load and
// Parse.
type Problems []Problem

// Error is one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems is how many problems are told. Who has more has taken another file, or has lost a key
// far above.
const maxProblems = 100

// bounded is the first of the problems, and how many there are.
func (ps Problems) bounded() Problems {
	if len(ps) <= maxProblems {
		return ps
	}
	// those that are only counted
	told := slices.DeleteFunc(slices.Clone(ps), func(p Problem) bool { return p.Message == "" })
	told = told[:min(len(told), maxProblems)]
	last := told[len(told)-1]
	last.Path, last.Message = "", fmt.Sprintf("and %d more", len(ps)-len(told))
	return append(told, last)
}

// sorted puts problems into the file's order, drops repetitions, which an alias that is used twice
// would cause, and tells no end of them.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool { return a == b }).bounded()
}

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
