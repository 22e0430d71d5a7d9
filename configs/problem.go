package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in a file, with its place. Line and Col count from 1. Path is the key's way from the
// top, such as cameras[0].url; it is empty when the whole file is meant. Message is a sentence for a person and never
// holds a secret.
type Problem struct {
	File      string
	Line, Col int
	Path      string
	Message   string
}

// String is file:line:col: path: message, the form that editors jump to.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Col, p.Path, p.Message)
}

// Problems is everything that is wrong in a file, in the file's order. It is the error of Load and Parse.
type Problems []Problem

// Error is one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted puts problems into the file's order and drops repetitions, which an alias that is used twice would cause.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool { return a == b })
}

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
