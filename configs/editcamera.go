package configs

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Edit is a key of a camera's section, such as url, and its new value; "" takes the key away.
type Edit struct{ Key, Value string }

// editOrder is in which order the keys of a section that can be edited stand.
var editOrder = []string{"id", "name", "url", "preview_url", "username", "password", "password_file",
	"allow_insecure_basic", "enabled"}

// ChangeCamera changes keys of one camera in a file's content and leaves every other byte, the
// comments among them, as it is. The result was read again: the camera's keys have the new values
// and nothing else has changed. What is written so that this cannot be done is an error that says
// why.
func ChangeCamera(name string, content []byte, id string, edits ...Edit) ([]byte, error) {
	before, err := Parse(name, content)
	if err != nil {
		return nil, err
	}
	list, at, err := listOf(content, before, id)
	if err != nil {
		return nil, fmt.Errorf("change the camera: %w", err)
	}
	changed := content
	for _, e := range edits {
		if changed, err = list.edit(changed, at, e); err != nil {
			return nil, fmt.Errorf("change the camera: %w", err)
		}
		// The lines may have moved.
		if list, err = cameraList(changed); err != nil {
			return nil, fmt.Errorf("change the camera: %w", err)
		}
	}
	after, err := Parse(name, changed)
	if err != nil {
		return nil, fmt.Errorf("change the camera: %w", err)
	}
	if !onlyEdited(before, after, at, edits) {
		return nil, errors.New("change the camera: its section is laid out so that something else would change; " +
			"change it by hand")
	}
	return changed, nil
}

// RemoveCamera takes one camera out of a file's content, with the comments directly above it, and
// leaves every other byte as it is. The result was read again: it holds all that it held but the
// camera.
func RemoveCamera(name string, content []byte, id string) ([]byte, error) {
	before, err := Parse(name, content)
	if err != nil {
		return nil, err
	}
	list, at, err := listOf(content, before, id)
	if err != nil {
		return nil, fmt.Errorf("remove the camera: %w", err)
	}
	from, to := list.begin(at), list.end
	if at+1 < len(list.node.Content) {
		to = list.begin(at + 1)
	}
	changed := append(bytes.Join(list.lines[:from], nil), bytes.Join(list.lines[to:], nil)...)
	after, err := Parse(name, changed)
	if err != nil {
		return nil, fmt.Errorf("remove the camera: %w", err)
	}
	want, got := *before, *after
	want.Cameras = slices.Delete(slices.Clone(before.Cameras), at, at+1)
	got.Cameras = append([]Camera{}, after.Cameras...)
	want.Warnings, got.Warnings = nil, nil
	if !reflect.DeepEqual(want, got) {
		return nil, errors.New("remove the camera: the file is laid out so that something else would change; " +
			"remove its section by hand")
	}
	return changed, nil
}

// written is the list `cameras` as it stands in a file.
type written struct {
	node  *yaml.Node
	lines [][]byte
	end   int // the line, from 0, before which the list has ended
}

var errBrackets = errors.New("the list `cameras` is written in brackets; change it by hand")

func cameraList(content []byte) (w written, err error) {
	root, lines, err := rootOf(content)
	if err != nil {
		return w, err
	}
	w.lines = lines
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "cameras" {
			w.node = root.Content[i+1]
			w.end = listEnd(w.lines, root, i)
		}
	}
	if w.node == nil || w.node.Kind != yaml.SequenceNode || (root.Style|w.node.Style)&yaml.FlowStyle != 0 {
		return w, errBrackets
	}
	return w, nil
}

// rootOf is the group of a file's own keys, and the file's lines.
func rootOf(content []byte) (root *yaml.Node, lines [][]byte, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil || len(doc.Content) == 0 {
		return nil, nil, errors.New("the file is laid out so that a line cannot change alone; change it by hand")
	}
	return doc.Content[0], bytes.SplitAfter(content, []byte("\n")), nil
}

// listOf finds the list, and the place of a camera in it.
func listOf(content []byte, cfg *Config, id string) (written, int, error) {
	at := slices.IndexFunc(cfg.Cameras, func(c Camera) bool { return c.ID == id })
	if at < 0 {
		return written{}, 0, fmt.Errorf("there is no camera %q in the file", id)
	}
	list, err := cameraList(content)
	if err == nil && len(list.node.Content) != len(cfg.Cameras) {
		err = errBrackets
	}
	return list, at, err
}

// begin is the line of an item's dash, or of the first of the comments directly above it.
func (w written) begin(at int) int {
	line := w.node.Content[at].Line - 1
	for line > 0 && !bytes.HasPrefix(bytes.TrimLeft(w.lines[line], " "), []byte("-")) {
		line--
	}
	indent := len(w.lines[line]) - len(bytes.TrimLeft(w.lines[line], " "))
	for line > 0 {
		above := w.lines[line-1]
		text := bytes.TrimLeft(above, " ")
		if !bytes.HasPrefix(text, []byte("#")) || len(above)-len(text) != indent || indent == 0 {
			break
		}
		line--
	}
	return line
}

// oneLine is a key with a value that stands on its line: what is before the value, the value, and
// what is behind it.
var oneLine = regexp.MustCompile(`^( *(?:- +)?[a-z_]+ *:)([ \t]+(?:'(?:[^']|'')*'|"(?:\\.|[^"\\])*"|` +
	`[^#'"\s&*!|>{\[][^\r\n]*?))?((?:[ \t]+#[^\r\n]*)?[ \t]*\r?\n?)$`)

// edit makes one edit.
func (w written) edit(content []byte, at int, e Edit) ([]byte, error) {
	camera := w.node.Content[at]
	if camera.Kind != yaml.MappingNode || camera.Style&yaml.FlowStyle != 0 {
		return nil, errors.New("its section is written in braces; change it by hand")
	}
	lines := slices.Clone(w.lines)
	place, first := map[string]int{}, camera.Content[0]
	for i := 0; i+1 < len(camera.Content); i += 2 {
		place[camera.Content[i].Value] = camera.Content[i].Line - 1
	}
	line, there := place[e.Key]
	switch {
	case !there && e.Value == "":
		return content, nil
	case there:
		parts := oneLine.FindSubmatch(lines[line])
		if parts == nil {
			return nil, fmt.Errorf("the value of %s does not stand on one line; change it by hand", e.Key)
		}
		if e.Value == "" && line == first.Line-1 {
			return nil, fmt.Errorf("%s is the first key of its section; change it by hand", e.Key)
		}
		lines[line] = nil
		if e.Value != "" {
			lines[line] = fmt.Appendf(nil, "%s %s%s", parts[1], e.text(), parts[3])
		}
	default:
		after := first.Line - 1
		for _, key := range editOrder[:slices.Index(editOrder, e.Key)] {
			if l, ok := place[key]; ok {
				after = l
			}
		}
		eol := "\n"
		if bytes.HasSuffix(lines[after], []byte("\r\n")) {
			eol = "\r\n"
		}
		added := strings.Repeat(" ", first.Column-1) + e.Key + ": " + e.text() + eol
		lines[after] = appendText(lines[after], added, eol)
	}
	return bytes.Join(lines, nil), nil
}

func (e Edit) text() string {
	if e.Key == "enabled" || e.Key == "allow_insecure_basic" {
		return e.Value
	}
	return scalarText(e.Value)
}

// onlyEdited reports whether after is before with the edits of one camera, and nothing else.
func onlyEdited(before, after *Config, at int, edits []Edit) bool {
	if len(before.Cameras) != len(after.Cameras) {
		return false
	}
	want, got := *before, *after
	want.Cameras, got.Cameras = slices.Clone(before.Cameras), slices.Clone(after.Cameras)
	want.Warnings, got.Warnings = nil, nil
	olds := fieldsOf(reflect.ValueOf(&want.Cameras[at]).Elem())
	news := fieldsOf(reflect.ValueOf(&got.Cameras[at]).Elem())
	for _, e := range edits {
		if e.Value != "" && e.Key != "password_file" && fmt.Sprint(news[e.Key].Interface()) != e.Value {
			return false
		}
		olds[e.Key].Set(news[e.Key])
		if e.Key == "password_file" {
			olds["password"].Set(news["password"])
		}
	}
	return reflect.DeepEqual(want, got)
}
