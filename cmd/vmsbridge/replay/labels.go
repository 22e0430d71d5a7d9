package replay

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// LabelKind says what a label means.
type LabelKind string

// The kinds of labels.
const (
	Motion       LabelKind = "motion"
	Quiet        LabelKind = "quiet"
	PresentStill LabelKind = "present_still"
	Residual     LabelKind = "residual"
)

// Label is one labelled stretch of pictures, both ends inclusive.
type Label struct {
	Start, End, Tolerance int
	Kind                  LabelKind
	Note                  string
	Line                  int // of the file
}

// ReadLabels reads a label file; name stands in the errors, with line and column. The labels come
// in the order of their starts.
//
// A label file is a CSV table with a line of column names; lines that start with "#" are comments.
// Needed columns are start_frame, end_frame (counted from 0, both inclusive) and kind; tol_frames
// (by which both boundaries may be off; 0 if missing) and note are read too, others are not. Kinds
// are
//
//	motion         must be found
//	quiet          nothing may begin
//	present_still  somebody stands there: not scored
//	residual       shadows and the like: not scored
func ReadLabels(name string, r io.Reader) ([]Label, error) {
	text := bufio.NewReader(r)
	if mark, err := text.Peek(3); err == nil && string(mark) == "\ufeff" { // as spreadsheets begin their files
		_, _ = text.Discard(len(mark))
	}
	c := csv.NewReader(text)
	c.Comment, c.FieldsPerRecord, c.LazyQuotes, c.TrimLeadingSpace = '#', -1, true, true
	var columns map[string]int
	var labels []Label
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read labels %s: %w", name, err)
		}
		if strings.TrimSpace(strings.Join(fields, "")) == "" {
			continue
		}
		l, wrong, err := Label{}, slices.IndexFunc(fields, multiline), error(nil)
		switch {
		case wrong >= 0:
			err = errors.New("the text that a quotation mark begins here goes on in the next line: close it")
		case columns == nil:
			columns, wrong, err = header(fields)
		default:
			l, wrong, err = parse(columns, fields)
		}
		line, _ := c.FieldPos(0)
		if err != nil {
			column := 1
			if wrong >= 0 && wrong < len(fields) {
				line, column = c.FieldPos(wrong)
			}
			return nil, fmt.Errorf("read labels %s:%d:%d: %w", name, line, column, err)
		}
		if l.Kind != "" {
			l.Line = line
			labels = append(labels, l)
		}
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("read labels %s: there is no label in it; a label file has a line "+
			"start_frame,end_frame,kind,tol_frames,note and one line for each stretch", name)
	}
	slices.SortStableFunc(labels, func(a, b Label) int { return a.Start - b.Start })
	return labels, nil
}

// multiline tells of a field that it is several lines: of a quotation mark that is never closed,
// all lines after it are one field.
func multiline(field string) bool { return strings.ContainsAny(field, "\r\n") }

// header reads the line of the column names; an error is about the field of that index, or the
// line.
func header(fields []string) (columns map[string]int, wrong int, err error) {
	columns = map[string]int{}
	for i, f := range fields {
		name := strings.ToLower(strings.TrimSpace(f))
		if _, twice := columns[name]; twice && name != "" {
			return nil, i, fmt.Errorf("there are two columns %s", name)
		}
		columns[name] = i
	}
	for _, need := range []string{"start_frame", "end_frame", "kind"} {
		if _, ok := columns[need]; ok {
			continue
		}
		err = fmt.Errorf("the first line names no column %s; needed are start_frame, end_frame and kind", need)
		if len(fields) == 1 && strings.ContainsAny(fields[0], ";\t") {
			err = errors.New("the columns are not separated by commas: save the table with commas")
		}
		return nil, -1, err
	}
	return columns, -1, nil
}

// parse reads a line; an error is about the field of that index, or the line.
func parse(columns map[string]int, fields []string) (l Label, wrong int, err error) {
	text := func(column string) string {
		if i, ok := columns[column]; ok && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	for _, n := range []struct {
		column string
		to     *int
	}{{"start_frame", &l.Start}, {"end_frame", &l.End}, {"tol_frames", &l.Tolerance}} {
		s := text(n.column)
		if s == "" && n.column == "tol_frames" {
			continue
		}
		v, err := strconv.Atoi(s)
		if err != nil || v < 0 || v > 1<<30 {
			return l, columns[n.column], fmt.Errorf("%s is %q, not a number of a picture", n.column, s)
		}
		*n.to = v
	}
	if l.End < l.Start {
		return l, columns["end_frame"], fmt.Errorf("it ends (%d) before it starts (%d)", l.End, l.Start)
	}
	l.Kind, l.Note = LabelKind(text("kind")), text("note")
	switch l.Kind {
	case Motion, Quiet, PresentStill, Residual:
		return l, -1, nil
	}
	return l, columns["kind"], fmt.Errorf("there is no kind %q: write motion, quiet, present_still or residual", l.Kind)
}
