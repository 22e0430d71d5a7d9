package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// sheet is the content of a file that is changed one thing after the other; every byte that a
// change is not about stays as it is, the comments among them. What is changed is named by its
// path: names of keys, and places in lists from 0. After an error nothing more is done.
type sheet struct {
	content []byte
	err     error
}

// expectation says what a file is to say after a change: it changes want, which is what it said, so
// that it equals got; false is that it cannot.
type expectation func(want, got *Config) bool

// change makes a change to a file's content, which must have no problems, and reads the result
// again: it says what is expected, or there is an error that says why not.
func change(what, name string, content []byte,
	make func(s *sheet, before *Config) (expectation, error)) ([]byte, error) {
	before, err := Parse(name, content)
	if err != nil {
		return nil, err
	}
	s := &sheet{content: content}
	expect, err := make(s, before)
	if err == nil {
		err = s.err
	}
	var after *Config
	if err == nil {
		after, err = Parse(name, s.content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	want, got := *before, *after
	want.Warnings, got.Warnings = nil, nil
	want.Cameras, got.Cameras = append([]Camera{}, want.Cameras...), append([]Camera{}, got.Cameras...)
	if !expect(&want, &got) || !reflect.DeepEqual(want, got) {
		return nil, fmt.Errorf("%s: the file is laid out so that something else would change; change it by hand", what)
	}
	return s.content, nil
}

// block is a node of a file and the lines that it takes.
type block struct {
	what  string // for people
	name  string // of the key; "": an item, or the file
	node  *yaml.Node
	lines [][]byte
	from  int // its first line, from 0: of its key, or of its dash
	head  int // how many bytes of that line, with the key's colon or the dash, stand before it
	end   int // the line before which it ends, without blank lines and comments behind it
	inner int // how far in the keys below it stand
	eol   string
}

// find goes down a path as far as it is there, and says how far that is.
func (s *sheet) find(path []any) (b block, depth int) {
	if s.err != nil {
		return b, 0
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(s.content, &doc); err != nil || len(doc.Content) == 0 {
		s.err = errors.New("the file is laid out so that a line cannot change alone; change it by hand")
		return b, 0
	}
	b = block{what: "the file", node: doc.Content[0], lines: bytes.SplitAfter(s.content, []byte("\n")), eol: "\n"}
	if bytes.Contains(s.content, []byte("\r\n")) {
		b.eol = "\r\n"
	}
	end := slices.IndexFunc(b.lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("...")) })
	if end < 0 {
		end = len(b.lines)
	}
	b.end = b.trim(end)
	for _, step := range path {
		if i, ok := step.(int); ok {
			if s.err = b.dashes(); s.err == nil && i >= len(b.node.Content) {
				s.err = errors.New("the list has no such item; change it by hand")
			}
			if s.err != nil {
				return b, depth
			}
			b = b.item(i)
		} else {
			if b.empty() {
				break
			}
			if s.err = b.keys(); s.err != nil {
				return b, depth
			}
			below, there := b.key(step.(string))
			if !there {
				break
			}
			b = below
		}
		depth++
	}
	if slices.ContainsFunc(path[depth:], func(step any) bool { _, ok := step.(int); return ok }) {
		s.err = fmt.Errorf("%s has no list of its own there; change it by hand", b.what)
	}
	return b, depth
}

// keys is an error unless the block is a group of keys on lines of their own.
func (b block) keys() error {
	switch {
	case b.node.Kind == yaml.AliasNode:
		return fmt.Errorf("%s is written by an alias; change it by hand", b.what)
	case b.node.Kind != yaml.MappingNode || b.node.Style&yaml.FlowStyle != 0:
		return fmt.Errorf("%s is written in braces; change it by hand, or put its keys on lines of their own", b.what)
	}
	return nil
}

// dashes is an error unless the block is a list with a dash before each item.
func (b block) dashes() error {
	switch {
	case b.node.Kind == yaml.AliasNode:
		return fmt.Errorf("the list %s is written by an alias; change it by hand", b.name)
	case b.node.Kind != yaml.SequenceNode || b.node.Style&yaml.FlowStyle != 0:
		return fmt.Errorf("the list %s is written in brackets; change it by hand, or put each of its items on a line "+
			"of its own behind a dash", b.name)
	}
	return nil
}

// empty says whether a value is none at all: `key:`, `key: null` or `key: []`.
func (b block) empty() bool {
	return isNull(b.node) || b.node.Kind == yaml.SequenceNode && len(b.node.Content) == 0
}

// trim is the end before the blank lines and comments that stand before a line.
func (b block) trim(end int) int {
	for end > b.from+1 {
		if line := bytes.TrimSpace(b.lines[end-1]); len(line) > 0 && line[0] != '#' {
			break
		}
		end--
	}
	return end
}

// key is the value of a key, with the key.
func (b block) key(name string) (block, bool) {
	for i := 0; i+1 < len(b.node.Content); i += 2 {
		if b.node.Content[i].Value == name {
			end := b.end
			if i+2 < len(b.node.Content) {
				end = b.node.Content[i+2].Line - 1
			}
			key := b.node.Content[i]
			v := block{what: "its " + name, name: name, node: b.node.Content[i+1], lines: b.lines, from: key.Line - 1,
				inner: key.Column + 1, eol: b.eol}
			v.end = v.trim(end)
			v.head = key.Column - 1 + bytes.IndexByte(v.lines[v.from][key.Column-1:], ':') + 1
			return v, true
		}
	}
	return block{}, false
}

// item is an item of a list that is written with dashes.
func (b block) item(i int) block {
	end := b.end
	if i+1 < len(b.node.Content) {
		end = b.dash(i + 1)
	}
	v := block{what: fmt.Sprintf("item %d of the list %s", i+1, b.name), node: b.node.Content[i], lines: b.lines,
		from: b.dash(i), head: b.node.Column, eol: b.eol}
	if b.name == "cameras" {
		v.what = "its section"
	}
	v.end = v.trim(end)
	return v
}

// dash is the line of an item's dash.
func (b block) dash(i int) int {
	line, column := b.node.Content[i].Line-1, b.node.Column-1
	for line > b.from && (column >= len(b.lines[line]) || b.lines[line][column] != '-' ||
		len(bytes.TrimLeft(b.lines[line][:column], " ")) > 0) {
		line--
	}
	return line
}

// begin is the line of an item's dash, or of the first of the comments directly above it.
func (b block) begin(i int) int {
	line := b.dash(i)
	for line > b.from+1 && b.comment(line-1) == b.node.Column-1 {
		line--
	}
	return line
}

// below is the line behind the comments at a line that stand at least so far in: they belong to
// what is before them.
func (b block) below(line, indent int) int {
	for line < len(b.lines) && b.comment(line) >= max(indent, 1) {
		line++
	}
	return line
}

// comment is how far in a line's comment stands, -1 if it is not one.
func (b block) comment(line int) int {
	text := bytes.TrimLeft(b.lines[line], " ")
	if !bytes.HasPrefix(text, []byte("#")) {
		return -1
	}
	return len(b.lines[line]) - len(text)
}

// splice puts text in the place of lines.
func (s *sheet) splice(lines [][]byte, from, to int, text ...string) {
	head, tail := bytes.Join(lines[:from], nil), bytes.Join(lines[to:], nil)
	all := strings.Join(text, "")
	if len(head) > 0 && head[len(head)-1] != '\n' && all != "" {
		head = append(head, '\n')
	}
	s.content = append(append(head, all...), tail...)
}

// behind is a value that stands on its line, and the comment behind it.
var behind = regexp.MustCompile(`^([ \t]*(?:'(?:[^']|'')*'|"(?:\\.|[^"\\])*"|` +
	`\[(?:[^#"'\r\n]|'(?:[^'\r\n]|'')*'|"(?:\\.|[^"\\\r\n])*")*\]|[^#'"\s&*!|>{\[][^\r\n]*?)?)` +
	`((?:[ \t]+#[^\r\n]*)?[ \t]*\r?\n?)$`)

// value puts another text in the place of a value, which may take several lines where no comment
// stands in them.
func (s *sheet) value(b block, text string) {
	before := string(b.lines[b.from][:b.head])
	if text != "" {
		text = " " + text
	}
	if b.end == b.from+1 {
		if parts := behind.FindSubmatch(b.lines[b.from][b.head:]); parts != nil {
			s.splice(b.lines, b.from, b.end, before, text, string(parts[2]))
			return
		}
	} else if end := b.below(b.end, b.inner); !bytes.ContainsAny(bytes.Join(b.lines[b.from:end], nil), "#&*") {
		s.splice(b.lines, b.from, b.end, before, text, b.eol)
		return
	}
	what := b.what
	if b.name != "" {
		what = "the value of " + b.name
	}
	s.err = fmt.Errorf("%s holds comments or anchors between its parts, which would be lost; change it by hand", what)
}

// replace puts another text in the place of an item of a list.
func (s *sheet) replace(text string, path ...any) {
	if b, _ := s.find(path); s.err == nil {
		s.value(b, text)
	}
}

// set gives a key another text; "" takes the key away.
func (s *sheet) set(text string, path ...any) {
	above, name := path[:len(path)-1], path[len(path)-1].(string)
	group, depth := s.find(above)
	if s.err != nil {
		return
	}
	if depth < len(above) || group.empty() {
		if text != "" {
			s.create(group, above[depth:], []string{name + ": " + text})
		}
		return
	}
	if s.err = group.keys(); s.err != nil {
		return
	}
	v, there := group.key(name)
	first := group.node.Content[0]
	switch {
	case there && text != "":
		s.value(v, text)
	case there && v.from == first.Line-1:
		s.err = fmt.Errorf("%s is the first key of %s; change it by hand", name, group.what)
	case there:
		s.splice(group.lines, v.from, v.end)
	case text != "":
		at := group.place(name)
		s.splice(group.lines, at, at, strings.Repeat(" ", first.Column-1)+name+": "+text+group.eol)
	}
}

// create writes what there is not yet below a block: the keys of a path one in the other, and in
// the last one the lines.
func (s *sheet) create(b block, path []any, lines []string) {
	text, indent := "", b.inner
	switch {
	case b.empty():
		if s.value(b, ""); s.err != nil {
			return
		}
		b.lines = bytes.SplitAfter(s.content, []byte("\n"))
	case b.what == "the file":
		text, indent = b.eol, b.node.Content[0].Column-1
	default:
		indent = b.node.Content[0].Column - 1
	}
	for _, name := range path {
		text += strings.Repeat(" ", indent) + name.(string) + ":" + b.eol
		indent += 2
	}
	s.splice(b.lines, b.end, b.end, text, indented(lines, indent, b.eol))
}

// add puts an item at the end of a list: its lines, with the dash.
func (s *sheet) add(lines []string, path ...any) {
	b, depth := s.find(path)
	switch {
	case s.err != nil:
	case depth < len(path) || b.empty():
		s.create(b, path[depth:], lines)
	default:
		if s.err = b.dashes(); s.err == nil {
			end := b.below(b.end, b.node.Column-1)
			s.splice(b.lines, end, end, indented(lines, b.node.Column-1, b.eol))
		}
	}
}

// drop takes an item out of a list, with the comments directly above it.
func (s *sheet) drop(path ...any) {
	list, _ := s.find(path[:len(path)-1])
	i := path[len(path)-1].(int)
	if s.err != nil {
		return
	}
	if s.err = list.dashes(); s.err != nil {
		return
	}
	end := list.below(list.item(i).end, list.node.Column)
	if i+1 < len(list.node.Content) {
		end = list.begin(i + 1)
	}
	s.splice(list.lines, list.begin(i), end)
}

// dashed is an item's keys as lines behind a dash.
func dashed(keys []string) []string {
	lines := slices.Clone(keys)
	for i, l := range lines {
		lines[i] = "  " + l
	}
	lines[0] = "- " + keys[0]
	return lines
}

func indented(lines []string, indent int, eol string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.Repeat(" ", indent) + l + eol)
	}
	return b.String()
}

// plainScalar is text that YAML reads as that very text without quotes: nothing that could be a
// number, a boolean or a sign.
var plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./:@%?&=+-]*[A-Za-z0-9_/=]$`)

// scalarText quotes what YAML would read as something else. JSON's strings are YAML's double-quoted
// ones.
func scalarText(s string) string {
	lower := strings.ToLower(s)
	if plainScalar.MatchString(s) && !strings.Contains(s, ": ") && lower != "true" && lower != "false" &&
		lower != "null" && lower != "yes" && lower != "no" && lower != "on" && lower != "off" {
		return s
	}
	quoted, _ := json.Marshal(s) // a string cannot fail
	return string(quoted)
}
