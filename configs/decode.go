package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxNodes bounds what a file may grow to when its aliases are filled in: far more than any real
// file, and reached by a "billion laughs" within milliseconds.
const maxNodes = 100_000

type place struct{ line, col int }

// decoder walks a document's nodes into a Config. It is our own, and not the library's, because it
// keeps the place of every key for the checks that follow, goes on after a problem, and never
// repeats a value that may be a secret.
type decoder struct {
	file     string
	problems Problems
	keys     map[string]place // where the key of a path stands
	values   map[string]place // where its value begins
	bad      map[string]bool  // paths whose value could not be read; the checks leave them alone
	nodes    int
}

// defaulter is a list's item that has defaults.
type defaulter interface{ setDefaults() }

func (d *decoder) report(at place, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.file, at.line, at.col, path, fmt.Sprintf(format, args...)})
}

// wrong reports a value that could not be read.
func (d *decoder) wrong(n *yaml.Node, path, format string, args ...any) {
	d.bad[path] = true
	d.report(place{n.Line, n.Column}, path, format, args...)
}

// value reads n into v. A null means that the key is absent.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.wrong(n, path, "the file grows above %d values when its aliases are filled in", maxNodes)
		}
		return
	}
	d.values[path] = place{n.Line, n.Column}
	n = resolve(n)
	if isNull(n) {
		delete(d.keys, path)
		return
	}
	if tag := n.ShortTag(); !strings.HasPrefix(tag, "!!") || tag == "!!binary" {
		d.wrong(n, path, "YAML tags such as !name are not used here; put the value in quotes if it begins with !")
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Secret]() {
			d.scalar(n, v, path)
			return
		}
		if w, ok := v.Addr().Interface().(worded); ok && n.Kind == yaml.ScalarNode {
			if word := w.word(n.Value); word != "" {
				d.wrong(n, path, "must be a group of keys or the word %s", word)
			}
			return
		}
		d.mapping(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Array:
		d.point(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// worded is a group of keys in whose place a word may stand. word takes one, and returns the right
// one if it is another.
type worded interface {
	word(word string) (right string)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		hint := ""
		if n.Kind == yaml.MappingNode {
			hint = "; begin each item with a dash: - KEY: VALUE"
		}
		d.wrong(n, path, "must be a list, not %s%s", kindName(n), hint)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		if df, ok := v.Index(i).Addr().Interface().(defaulter); ok {
			df.setDefaults()
		}
		if at := item(path, i); isNull(resolve(c)) {
			d.wrong(c, at, "the list's item is empty")
		} else {
			d.value(c, v.Index(i), at)
		}
	}
}

// point reads one corner of a polygon.
func (d *decoder) point(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != v.Len() {
		d.wrong(n, path, "must be a corner [x, y] with two numbers from 0 to 1")
		return
	}
	for i, c := range n.Content {
		d.value(c, v.Index(i), item(path, i))
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, path, "must be a group of keys, not %s", kindName(n))
		return
	}
	fields := fieldsOf(v)
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := resolve(n.Content[i])
		at := place{n.Content[i].Line, n.Content[i].Column}
		if k.Kind != yaml.ScalarNode {
			d.report(at, path, "a key must be a word")
			continue
		}
		if k.ShortTag() == "!!merge" {
			continue
		}
		name := k.Value
		if first, ok := seen[name]; ok {
			d.report(at, join(path, printable(name)), "double key, it stands on line %d already", first)
			continue
		}
		seen[name] = at.line
		field, ok := fields[name]
		switch v := n.Content[i+1]; {
		case !ok && n.Style&yaml.FlowStyle != 0 && isNull(v) && v.Value == "":
			// The rest of a password with a comma, as likely as not: it is not repeated.
			d.report(at, path, "a word without a value stands here; put a value that holds a comma in quotes")
			continue
		case !ok:
			d.unknown(at, path, name, fields)
			continue
		}
		d.keys[join(path, name)] = at
		d.value(n.Content[i+1], field, join(path, name))
	}
	d.merge(n, v, path, fields, seen, 0)
}

// unknown reports a key that does not exist. The key that was probably meant is not also reported
// as missing.
func (d *decoder) unknown(at place, path, name string, fields map[string]reflect.Value) {
	known := keysOf(fields)
	if len(d.problems) > maxProblems { // it is only counted
		d.report(at, path, "")
		return
	}
	name = userInfo.ReplaceAllString(name, "//***@")
	if _, ok := fieldsOf(reflect.ValueOf(Camera{}))[name]; ok && path == "" {
		d.report(at, name, "unknown key here; a camera has it: indent it as the other keys of the camera")
		return
	}
	if meant := closest(name, known); meant != "" {
		d.bad[join(path, meant)] = true
		d.report(at, join(path, printable(name)), "unknown key, did you mean %q?", meant)
		return
	}
	d.report(at, join(path, printable(name)), "unknown key; known here: %s", strings.Join(known, ", "))
}

// merge fills in what "<<: *anchor" brings: keys that are not written in the mapping itself, the
// first source first.
func (d *decoder) merge(n *yaml.Node, v reflect.Value, path string, fields map[string]reflect.Value,
	seen map[string]int, depth int) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := resolve(n.Content[i]); k.Kind != yaml.ScalarNode || k.ShortTag() != "!!merge" {
			continue
		}
		sources := []*yaml.Node{resolve(n.Content[i+1])}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, s := range sources {
			s = resolve(s)
			if d.nodes++; s.Kind != yaml.MappingNode || depth > 8 || d.nodes > maxNodes {
				d.wrong(n.Content[i+1], join(path, "<<"),
					"must name a group of keys by its anchor, such as <<: *defaults")
				return
			}
			for j := 0; j+1 < len(s.Content); j += 2 {
				k := resolve(s.Content[j])
				if k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" {
					continue
				}
				if _, ok := seen[k.Value]; ok {
					continue
				}
				seen[k.Value] = k.Line
				if field, ok := fields[k.Value]; !ok {
					d.unknown(place{k.Line, k.Column}, path, k.Value, fields)
				} else {
					d.keys[join(path, k.Value)] = place{k.Line, k.Column}
					d.value(s.Content[j+1], field, join(path, k.Value))
				}
			}
			d.merge(s, v, path, fields, seen, depth+1)
		}
	}
}

// fieldsOf lists a struct's fields by their key.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		key, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			for k, f := range fieldsOf(v.Field(i)) {
				fields[k] = f
			}
		case key != "" && key != "-":
			fields[key] = v.Field(i)
		}
	}
	return fields
}

func keysOf(fields map[string]reflect.Value) []string {
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// resolve follows aliases; the library refuses an alias to an alias, the bound is for safety only.
func resolve(n *yaml.Node) *yaml.Node {
	for i := 0; n.Kind == yaml.AliasNode && n.Alias != nil && i < 8; i++ {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}
