package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// plainScalar is text that YAML reads as that very text without quotes: nothing that could be a
// number, a boolean or a sign.
var plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./:@%?&=+-]*[A-Za-z0-9_/=]$`)

// Section writes a camera as an item of the list `cameras`, ready to be pasted: its id, name,
// addresses, user name and password file, those that it has, and whether it may be told the
// password in clear. Each comment stands on a line of its own above it. A password is never
// written.
func Section(c Camera, comments ...string) string {
	var b strings.Builder
	for _, comment := range comments {
		fmt.Fprintf(&b, "  # %s\n", strings.Join(strings.Fields(comment), " "))
	}
	mark := "- "
	for _, field := range [][2]string{{"id", c.ID}, {"name", c.Name}, {"url", c.URL}, {"preview_url", c.PreviewURL},
		{"username", c.Username}, {"password_file", c.PasswordFile}} {
		if field[1] == "" {
			continue
		}
		fmt.Fprintf(&b, "  %s%s: %s\n", mark, field[0], scalarText(field[1]))
		mark = "  "
	}
	if c.AllowInsecureBasic {
		b.WriteString("    allow_insecure_basic: true\n")
	}
	return b.String()
}

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

// AddCamera puts a section as Section writes it at the end of the list `cameras` of a file's
// content and leaves every other byte, the comments among them, as it is. The result was read
// again: it holds what it held and the one camera more. A content with problems gives them back as
// Problems; a list in brackets has no place for a section, which is an error too.
func AddCamera(name string, content []byte, section string) ([]byte, error) {
	before, err := Parse(name, content)
	if err != nil {
		return nil, err
	}
	changed, err := insertCamera(content, section)
	if err != nil {
		return nil, err
	}
	after, err := Parse(name, changed)
	if err != nil {
		return nil, fmt.Errorf("add the camera: %w", err)
	}
	n := len(before.Cameras)
	if len(after.Cameras) != n+1 {
		return nil, errors.New("add the camera: the list `cameras` of this file is not laid out so that one can be " +
			"added; paste the section by hand")
	}
	rest := *after
	rest.Cameras, rest.Warnings = after.Cameras[:n:n], before.Warnings
	if len(before.Cameras) == 0 {
		rest.Cameras = before.Cameras
	}
	if !reflect.DeepEqual(&rest, before) {
		return nil,
			errors.New("add the camera: it would change what the file says otherwise; paste the section by hand")
	}
	return changed, nil
}

// insertCamera finds the place by the lines of the YAML nodes.
func insertCamera(content []byte, section string) ([]byte, error) {
	eol := "\n"
	if bytes.Contains(content, []byte("\r\n")) {
		eol = "\r\n"
	}
	section = strings.ReplaceAll(section, "\n", eol)
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil || len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return appendText(content, "cameras:"+eol+section, eol), nil
	}
	root := doc.Content[0]
	lines := bytes.SplitAfter(content, []byte("\n"))
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, list := root.Content[i], root.Content[i+1]
		if key.Value != "cameras" {
			continue
		}
		if root.Style&yaml.FlowStyle != 0 || list.Kind == yaml.AliasNode || list.Style&yaml.FlowStyle != 0 {
			return nil,
				errors.New("add the camera: the list `cameras` is written in brackets; paste the section by hand")
		}
		end := listEnd(lines, root, i)
		indent := 2
		if len(list.Content) > 0 {
			first := lines[list.Content[0].Line-1]
			indent = len(first) - len(bytes.TrimLeft(first, " "))
		}
		section = indented(section, indent-2)
		head, tail := bytes.Join(lines[:end], nil), bytes.Join(lines[end:], nil)
		return append(appendText(head, section, eol), tail...), nil
	}
	end := documentEnd(lines, 0)
	head, tail := bytes.Join(lines[:end], nil), bytes.Join(lines[end:], nil)
	return append(appendText(head, eol+"cameras:"+eol+section, eol), tail...), nil
}

// listEnd is the line, from 0, before which the list has ended whose key is the root's i-th node.
func listEnd(lines [][]byte, root *yaml.Node, i int) (end int) {
	key := root.Content[i]
	if i+2 < len(root.Content) {
		end = root.Content[i+2].Line - 1
	} else {
		end = documentEnd(lines, key.Line)
	}
	for end > key.Line && outside(lines[end-1]) {
		end--
	}
	return end
}

// outside says whether a line is blank or a comment that is not indented, and so belongs to what
// follows the list.
func outside(line []byte) bool {
	return len(bytes.TrimSpace(line)) == 0 || line[0] == '#'
}

// documentEnd is the line of the document's end marker behind a line, or the number of lines.
func documentEnd(lines [][]byte, from int) int {
	for i := from; i < len(lines); i++ {
		if bytes.HasPrefix(lines[i], []byte("...")) {
			return i
		}
	}
	return len(lines)
}

// indented moves a section's lines by n columns, which may be negative.
func indented(section string, n int) string {
	lines := strings.SplitAfter(section, "\n")
	for i, l := range lines {
		switch {
		case l == "":
		case n > 0:
			lines[i] = strings.Repeat(" ", n) + l
		default:
			lines[i] = strings.TrimPrefix(l, strings.Repeat(" ", -n))
		}
	}
	return strings.Join(lines, "")
}

// appendText adds text on a line of its own. The content is not changed.
func appendText(content []byte, text, eol string) []byte {
	out := bytes.Clone(content)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, eol...)
	}
	return append(out, text...)
}
