package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Edit is a key of a camera's section, such as url, and its new value; "" takes the key away.
type Edit struct{ Key, Value string }

// cameraKeys is in which order the keys of a section that can be edited stand.
var cameraKeys = []string{"id", "name", "url", "preview_url", "username", "password", "password_file",
	"allow_insecure_basic", "enabled"}

// place is the line at which a new key of a group is written: the end, and in a camera's section
// behind the keys that go before it.
func (b block) place(name string) int {
	at := b.end
	for _, key := range cameraKeys[:max(slices.Index(cameraKeys, name), 0)] {
		if v, ok := b.key(key); ok && b.what == "its section" {
			at = v.end
		}
	}
	return at
}

// Section writes a camera as an item of the list `cameras`, ready to be pasted: its id, name,
// addresses, user name and password file, those that it has, and whether it may be told the
// password in clear. Each comment stands on a line of its own above it. A password is never
// written.
func Section(c Camera, comments ...string) string {
	var keys, lines []string
	for _, field := range [][2]string{{"id", c.ID}, {"name", c.Name}, {"url", c.URL}, {"preview_url", c.PreviewURL},
		{"username", c.Username}, {"password_file", c.PasswordFile}} {
		if field[1] != "" {
			keys = append(keys, field[0]+": "+scalarText(field[1]))
		}
	}
	if c.AllowInsecureBasic {
		keys = append(keys, "allow_insecure_basic: true")
	}
	for _, comment := range comments {
		lines = append(lines, "# "+strings.Join(strings.Fields(comment), " "))
	}
	return indented(append(lines, dashed(keys)...), 2, "\n")
}

// AddCamera puts a section as Section writes it at the end of the list `cameras` of a file's
// content and leaves every other byte, the comments among them, as it is. The result was read
// again: it holds what it held and the one camera more. A content with problems gives them back as
// Problems; a list in brackets has no place for a section, which is an error too.
func AddCamera(name string, content []byte, section string) ([]byte, error) {
	return change("add the camera", name, content, func(s *sheet, _ *Config) (expectation, error) {
		s.addCamera(section)
		return func(want, got *Config) bool {
			n := len(want.Cameras)
			if len(got.Cameras) != n+1 {
				return false
			}
			want.Cameras = append(want.Cameras, got.Cameras[n])
			return true
		}, nil
	})
}

func (s *sheet) addCamera(section string) {
	var doc yaml.Node
	if err := yaml.Unmarshal(s.content, &doc); err != nil || len(doc.Content) == 0 || isNull(doc.Content[0]) {
		s.splice([][]byte{s.content}, 1, 1, "cameras:\n", section) // there is nothing but comments
		return
	}
	lines := strings.Split(strings.TrimSuffix(section, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	s.add(lines, "cameras")
}

// ChangeCamera changes keys of one camera in a file's content and leaves every other byte, the
// comments among them, as it is. The result was read again: the camera's keys have the new values
// and nothing else has changed. What is written so that this cannot be done is an error that says
// why.
func ChangeCamera(name string, content []byte, id string, edits ...Edit) ([]byte, error) {
	return change("change the camera", name, content, func(s *sheet, before *Config) (expectation, error) {
		at, err := before.place(id)
		for _, e := range edits {
			if err == nil {
				s.set(e.text(), "cameras", at, e.Key)
			}
		}
		return func(want, got *Config) bool {
			if at >= len(got.Cameras) {
				return false
			}
			olds := fieldsOf(reflect.ValueOf(&want.Cameras[at]).Elem())
			news := fieldsOf(reflect.ValueOf(&got.Cameras[at]).Elem())
			for _, e := range edits {
				if e.Key == "password_file" {
					olds["password"].Set(news["password"])
				} else if e.Value != "" && fmt.Sprint(news[e.Key].Interface()) != e.Value {
					return false
				}
				olds[e.Key].Set(news[e.Key])
			}
			return true
		}, err
	})
}

func (e Edit) text() string {
	if e.Value == "" || e.Key == "enabled" || e.Key == "allow_insecure_basic" {
		return e.Value
	}
	return scalarText(e.Value)
}

// RemoveCamera takes one camera out of a file's content, with the comments directly above it, and
// leaves every other byte as it is. The result was read again: it holds all that it held but the
// camera.
func RemoveCamera(name string, content []byte, id string) ([]byte, error) {
	return change("remove the camera", name, content, func(s *sheet, before *Config) (expectation, error) {
		at, err := before.place(id)
		if err == nil {
			s.drop("cameras", at)
		}
		return func(want, _ *Config) bool { want.Cameras = slices.Delete(want.Cameras, at, at+1); return true }, err
	})
}

// place is where a camera stands in the list.
func (c *Config) place(id string) (int, error) {
	at := slices.IndexFunc(c.Cameras, func(c Camera) bool { return c.ID == id })
	if at < 0 {
		return at, fmt.Errorf("there is no camera %q in the file", id)
	}
	return at, nil
}
