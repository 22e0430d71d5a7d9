package configs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// ChangeMotion makes the sensitivity, masks, regions, lines and areas of one camera in a file's
// content those of want, and leaves every other byte, the comments among them, as it is; the rest
// of want is not looked at. Regions, lines and areas are told apart by their ids and stay in the
// file's order, behind them what is new. A region of sensitivity 0 has the camera's. The result was
// read again: it says what is wanted, and nothing else has changed. What is written so that this
// cannot be done is an error that says why.
func ChangeMotion(name string, content []byte, id string, want CameraMotion) ([]byte, error) {
	before, err := Parse(name, content)
	if err != nil {
		return nil, err
	}
	_, at, err := listOf(content, before, id)
	if err != nil {
		return nil, fmt.Errorf("change the camera: %w", err)
	}
	s := &sheet{content: content, camera: at, name: "motion"}
	expected := s.change(before.Cameras[at].Motion, want)
	if s.err != nil {
		return nil, fmt.Errorf("change the camera: %w", s.err)
	}
	after, err := Parse(name, s.content)
	if err != nil {
		return nil, err // the places of what is wrong are those of the file as it would be
	}
	hoped, got := *before, *after
	hoped.Warnings, got.Warnings = nil, nil
	hoped.Cameras = slices.Clone(before.Cameras)
	hoped.Cameras[at].Motion = expected
	if len(got.Cameras) == len(hoped.Cameras) {
		now := &got.Cameras[at].Motion
		for i, r := range now.Regions {
			if i < len(expected.Regions) && expected.Regions[i].Sensitivity == 0 {
				expected.Regions[i].Sensitivity = r.Sensitivity
			}
		}
		for _, m := range []*CameraMotion{now, &hoped.Cameras[at].Motion} {
			m.Masks, m.Regions, m.Lines, m.Areas = filled(m.Masks), filled(m.Regions), filled(m.Lines), filled(m.Areas)
		}
	}
	if !reflect.DeepEqual(hoped, got) {
		return nil, errors.New("change the camera: its section is laid out so that something else would change; " +
			"change it by hand")
	}
	return s.content, nil
}

// filled is a list, nil where it is empty.
func filled[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// sheet is a content in which one group of keys is changed, such as the motion of one camera, one
// thing after the other. After an error nothing more is done.
type sheet struct {
	content []byte
	camera  int    // its place in the list; -1: the group is one of the file's own
	name    string // of the group
	err     error
}

// setting is a key and its text. One that is plain is written only where the key is there already.
type setting struct {
	key, text string
	plain     bool
}

// change makes all changes, and returns what the camera's motion is to be then.
func (s *sheet) change(have, want CameraMotion) CameraMotion {
	out, camera := have, have.Sensitivity
	if want.Sensitivity != have.Sensitivity {
		s.set("", 0, "sensitivity", number(want.Sensitivity))
		out.Sensitivity = want.Sensitivity
	}
	out.Masks = changeItems(s, "masks", have.Masks, want.Masks, func(p Polygon) string { return corners(p) })
	out.Regions = changeNamed(s, "regions", have.Regions, want.Regions, func(r *Region) (string, []setting) {
		r.Name = cmp.Or(r.Name, r.ID)
		if r.Sensitivity == camera {
			r.Sensitivity = 0
		}
		keen := setting{"sensitivity", number(r.Sensitivity), false}
		if r.Sensitivity == 0 {
			keen = setting{key: "sensitivity", plain: true}
		}
		return r.ID, []setting{named(r.Name, r.ID), {"area", corners(r.Area), false}, keen}
	})
	out.Lines = changeNamed(s, "lines", have.Lines, want.Lines, func(l *Line) (string, []setting) {
		l.Name = cmp.Or(l.Name, l.ID)
		return l.ID, []setting{named(l.Name, l.ID), {"points", corners(l.Points), false},
			{"direction", scalarText(l.Direction), l.Direction == "any"}}
	})
	out.Areas = changeNamed(s, "areas", have.Areas, want.Areas, func(a *Area) (string, []setting) {
		a.Name = cmp.Or(a.Name, a.ID)
		return a.ID, []setting{named(a.Name, a.ID), {"area", corners(a.Area), false},
			{"intrusion", strconv.FormatBool(a.Intrusion), a.Intrusion},
			{"loiter", durationText(a.Loiter), a.Loiter == 0}}
	})
	return out
}

func named(name, id string) setting { return setting{"name", scalarText(name), name == id} }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func corners(list [][2]float64) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, ", [%s, %s]", number(p[0]), number(p[1]))
	}
	return "[" + strings.TrimPrefix(b.String(), ", ") + "]"
}

// durationText is a duration as people write it: 30s, 5m, 1h30m.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// changeItems is for a list whose items have no ids: those that are wanted and there stay, others
// take the places of those that are not wanted any more. It returns the list as it is then.
func changeItems[T any](s *sheet, key string, have, want []T, text func(T) string) []T {
	isIn := func(list []T, v T) bool {
		return slices.ContainsFunc(list, func(w T) bool { return text(v) == text(w) })
	}
	others := slices.DeleteFunc(slices.Clone(want), func(v T) bool { return isIn(have, v) })
	out := slices.Clone(have)
	for i := len(have) - 1; i >= 0; i-- {
		switch {
		case isIn(want, have[i]):
		case len(others) > 0:
			last := len(others) - 1
			out[i] = others[last]
			s.replace(key, i, text(others[last]))
			others = others[:last]
		default:
			out = slices.Delete(out, i, i+1)
			s.drop(key, i)
		}
	}
	for _, v := range others {
		out = append(out, v)
		s.add(key, []string{text(v)})
	}
	return out
}

// changeNamed makes have what is wanted, and returns it in the file's order. of is the id of one,
// and its settings; it completes what is left out.
func changeNamed[T any](s *sheet, key string, have, want []T, of func(*T) (string, []setting)) []T {
	out, want := slices.Clone(have), slices.Clone(want)
	find := func(list []T, id string) int {
		return slices.IndexFunc(list, func(v T) bool { other, _ := of(&v); return other == id })
	}
	for i := len(out) - 1; i >= 0; i-- {
		id, old := of(&out[i])
		w := find(want, id)
		if w < 0 {
			out = slices.Delete(out, i, i+1)
			s.drop(key, i)
			continue
		}
		_, settings := of(&want[w])
		for n, e := range settings {
			if e != old[n] {
				s.set(key, i, e.key, e.text)
			}
		}
		out[i] = want[w]
	}
	for i := range want {
		id, settings := of(&want[i])
		if find(have, id) >= 0 && find(want, id) == i {
			continue
		}
		lines := []string{"id: " + scalarText(id)}
		for _, e := range settings {
			if !e.plain {
				lines = append(lines, e.key+": "+e.text)
			}
		}
		out = append(out, want[i])
		s.add(key, lines)
	}
	return out
}

// block is a node of a file and the lines that it takes.
type block struct {
	node  *yaml.Node
	lines [][]byte
	from  int // its first line, from 0: of its key, or of its dash
	head  int // how many bytes of that line, with the key's colon or the dash, stand before it
	end   int // the line before which it ends, without blank lines and comments behind it
	eol   string
}

// group is what the group stands in, which is a camera's section or the file itself, and the group;
// ok says whether there is one.
func (s *sheet) group() (in, group block, ok bool) {
	if s.err != nil {
		return
	}
	in.eol = "\n"
	if bytes.Contains(s.content, []byte("\r\n")) {
		in.eol = "\r\n"
	}
	if s.camera < 0 {
		if in.node, in.lines, s.err = rootOf(s.content); s.err != nil {
			return
		}
		in.end = in.trim(documentEnd(in.lines, 0))
		s.err = in.keys("the file")
	} else {
		list, err := cameraList(s.content)
		if s.err = err; err != nil {
			return
		}
		end := list.end
		if s.camera+1 < len(list.node.Content) {
			end = list.begin(s.camera + 1)
		}
		in.node, in.lines, in.from = list.node.Content[s.camera], list.lines, list.begin(s.camera)
		in.end = in.trim(end)
		s.err = in.keys("its section")
	}
	if s.err == nil {
		group, ok = in.key(s.name)
	}
	return in, group, ok
}

// keys is an error unless the block is a group of keys on lines of their own.
func (b block) keys(what string) error {
	switch {
	case b.node.Kind == yaml.AliasNode:
		return fmt.Errorf("%s is written by an alias; change it by hand", what)
	case b.node.Kind != yaml.MappingNode || b.node.Style&yaml.FlowStyle != 0:
		return fmt.Errorf("%s is written in braces; change it by hand, or put its keys on lines of their own", what)
	}
	return nil
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
			v := block{node: b.node.Content[i+1], lines: b.lines, from: key.Line - 1, eol: b.eol}
			v.end = v.trim(end)
			v.head = key.Column - 1 + bytes.IndexByte(v.lines[v.from][key.Column-1:], ':') + 1
			return v, true
		}
	}
	return block{}, false
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

// item is an item of a list that is written with dashes.
func (b block) item(i int) block {
	end := b.end
	if i+1 < len(b.node.Content) {
		end = b.dash(i + 1)
	}
	v := block{node: b.node.Content[i], lines: b.lines, from: b.dash(i), head: b.node.Column, eol: b.eol}
	v.end = v.trim(end)
	return v
}

// empty says whether a value is none at all: `key:`, `key: null` or `key: []`.
func (b block) empty() bool {
	return isNull(b.node) || b.node.Kind == yaml.SequenceNode && len(b.node.Content) == 0
}

// list is a list of the group that is written with dashes.
func (s *sheet) list(key string) (list block, ok bool) {
	_, group, ok := s.group()
	if s.err != nil || !ok {
		return list, false
	}
	if s.err = group.keys("its " + s.name); s.err != nil {
		return list, false
	}
	if list, ok = group.key(key); ok && list.node.Kind == yaml.AliasNode {
		s.err = fmt.Errorf("the list %s is written by an alias; change it by hand", key)
	} else if ok && !list.empty() && list.node.Style&yaml.FlowStyle != 0 {
		s.err = fmt.Errorf("the list %s is written in brackets; change it by hand, or put each of its items on a line "+
			"of its own behind a dash", key)
	}
	return list, ok && s.err == nil
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

// drop takes an item out of a list, with the comments directly above it.
func (s *sheet) drop(key string, i int) {
	list, ok := s.list(key)
	if !ok {
		return
	}
	it := list.item(i)
	for it.from > list.from+1 {
		above := bytes.TrimLeft(it.lines[it.from-1], " ")
		if !bytes.HasPrefix(above, []byte("#")) || len(it.lines[it.from-1])-len(above) != list.node.Column-1 {
			break
		}
		it.from--
	}
	s.splice(list.lines, it.from, list.below(it.end))
}

// below is the line behind the comments at a line that are further in than the list's dashes: they
// belong to the item before.
func (b block) below(line int) int {
	for line < len(b.lines) {
		text := bytes.TrimLeft(b.lines[line], " ")
		if !bytes.HasPrefix(text, []byte("#")) || len(b.lines[line])-len(text) < b.node.Column {
			break
		}
		line++
	}
	return line
}

// behind is a value that stands on its line, and the comment behind it.
var behind = regexp.MustCompile(`^([ \t]*(?:'(?:[^']|'')*'|"(?:\\.|[^"\\])*"|` +
	`\[(?:[^#"'\r\n]|'(?:[^'\r\n]|'')*'|"(?:\\.|[^"\\\r\n])*")*\]|[^#'"\s&*!|>{\[][^\r\n]*?)?)` +
	`((?:[ \t]+#[^\r\n]*)?[ \t]*\r?\n?)$`)

// value puts another text in the place of a value, which may take several lines where no comment
// stands in them.
func (s *sheet) value(b block, what, text string) {
	before := string(b.lines[b.from][:b.head])
	if text != "" {
		text = " " + text
	}
	if b.end == b.from+1 {
		if parts := behind.FindSubmatch(b.lines[b.from][b.head:]); parts != nil {
			s.splice(b.lines, b.from, b.end, before, text, string(parts[2]))
			return
		}
	} else if !bytes.ContainsAny(bytes.Join(b.lines[b.from:b.end], nil), "#&*") {
		s.splice(b.lines, b.from, b.end, before, text, b.eol)
		return
	}
	s.err = fmt.Errorf("%s holds comments or anchors between its parts, which would be lost; change it by hand", what)
}

// replace puts another text in the place of an item of a list.
func (s *sheet) replace(key string, i int, text string) {
	if list, ok := s.list(key); ok {
		s.value(list.item(i), fmt.Sprintf("item %d of the list %s", i+1, key), text)
	}
}

// set gives a key of an item of a list another text, "" takes the key away; "" as the list is the
// group itself.
func (s *sheet) set(key string, i int, name, text string) {
	if key == "" {
		in, group, ok := s.group()
		switch {
		case s.err != nil:
		case !ok || group.empty():
			s.create(in, group, ok, []string{name + ": " + text})
		default:
			s.setIn(group, "its "+s.name, name, text)
		}
		return
	}
	if list, ok := s.list(key); ok {
		s.setIn(list.item(i), fmt.Sprintf("item %d of the list %s", i+1, key), name, text)
	}
}

func (s *sheet) setIn(group block, what, name, text string) {
	if s.err = group.keys(what); s.err != nil {
		return
	}
	v, there := group.key(name)
	first := group.node.Content[0]
	switch {
	case there && text != "":
		s.value(v, "the value of "+name, text)
	case there && v.from == first.Line-1:
		s.err = fmt.Errorf("%s is the first key of %s; change it by hand", name, what)
	case there:
		s.splice(group.lines, v.from, v.end)
	case text != "":
		s.splice(group.lines, group.end, group.end, strings.Repeat(" ", first.Column-1)+name+": "+text+group.eol)
	}
}

// create writes keys as the group where there is none.
func (s *sheet) create(in, group block, there bool, lines []string) {
	indent := in.node.Content[0].Column - 1
	at, text := in.end, strings.Repeat(" ", indent)+""+s.name+":"+in.eol
	if there { // the key stands there without a value
		at, text = group.end, ""
	} else if s.camera < 0 {
		text = in.eol + text
	}
	for _, l := range lines {
		text += strings.Repeat(" ", indent+2) + l + in.eol
	}
	s.splice(in.lines, at, at, text)
}

// add puts an item, the lines of its keys or one line, at the end of a list.
func (s *sheet) add(key string, item []string) {
	in, group, ok := s.group()
	if s.err != nil {
		return
	}
	if !ok || group.empty() {
		s.create(in, group, ok, append([]string{key + ":"}, dashed(item, 2)...))
		return
	}
	list, ok := s.list(key)
	if s.err != nil {
		return
	}
	inner := group.node.Content[0].Column - 1
	var text []string
	switch {
	case !ok:
		text, list = []string{strings.Repeat(" ", inner) + key + ":" + group.eol}, group
	case list.empty():
		if s.value(list, "the value of "+key, ""); s.err != nil {
			return
		}
		list.lines = bytes.SplitAfter(s.content, []byte("\n"))
	default:
		inner, list.end = list.node.Column-3, list.below(list.end)
	}
	for _, l := range dashed(item, inner+2) {
		text = append(text, l+group.eol)
	}
	s.splice(list.lines, list.end, list.end, text...)
}

// dashed is an item's lines behind a dash.
func dashed(item []string, indent int) []string {
	lines := slices.Clone(item)
	for i, l := range lines {
		mark := "  "
		if i == 0 {
			mark = "- "
		}
		lines[i] = strings.Repeat(" ", indent) + mark + l
	}
	return lines
}
