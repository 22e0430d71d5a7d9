package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxFile is the largest YAML file that is read, in bytes.
const maxFile = 1 << 20

// Load reads and checks the file. What is wrong inside it comes back as Problems, all of them; a
// file that cannot be read is another error. The secret files that it names are read too.
func Load(path string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, content, checker{open: st.Mode().Perm()&0o004 != 0, loaded: true})
}

// Parse is Load for content that was read already. name is the file's name: it stands in the
// problems, and relative paths count from its folder. An empty file means the defaults. The error
// is Problems.
func Parse(name string, content []byte) (*Config, error) { return parse(name, content, checker{}) }

// parse fills in the rest of the checker.
func parse(name string, content []byte, c checker) (*Config, error) {
	d := &decoder{file: name, keys: map[string]place{}, values: map[string]place{}, bad: map[string]bool{}}
	cfg := Default()
	cfg.File = name
	root, ok := d.document(content)
	if !ok {
		return nil, d.problems.sorted()
	}
	if root != nil && !isNull(resolve(root)) {
		d.value(root, reflect.ValueOf(cfg).Elem(), "")
	}
	cfg.fill(func(path string) bool { _, ok := d.keys[path]; return ok })
	c.decoder, c.cfg, c.dir = d, cfg, filepath.Dir(name)
	c.check()
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	cfg.Warnings = c.warnings.sorted()
	return cfg, nil
}

// document finds the file's only document; nil for an empty file.
func (d *decoder) document(content []byte) (*yaml.Node, bool) {
	top := place{1, 1}
	if len(content) > maxFile {
		d.report(top, "", "the file is larger than %s", Size(maxFile))
		return nil, false
	}
	if at, bad := badByte(content); bad {
		d.report(at, "", "the file holds a byte that is not text (UTF-8)")
		return nil, false
	}
	loader, err := yaml.NewLoader(bytes.NewReader(content))
	if err != nil {
		d.report(top, "", "%v", err)
		return nil, false
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		return nil, true
	} else if err != nil {
		d.syntax(err, content)
		return nil, false
	}
	if err := loader.Load(&second); err == nil {
		d.report(place{second.Line, second.Column}, "", "a second document begins here; the file must hold one")
		return nil, false
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err, content)
		return nil, false
	}
	if len(doc.Content) == 0 {
		return nil, true
	}
	return doc.Content[0], true
}

// syntax reports what the library says of a file that is not YAML. Its words are ours where it
// would repeat the file's text (an unquoted password that begins with * is "an unknown anchor" to
// it) or leave the reader alone.
func (d *decoder) syntax(err error, content []byte) {
	at, msg := place{1, 1}, "this is not YAML"
	var le *yaml.LoadError
	if errors.As(err, &le) {
		if le.Mark.Line > 0 {
			at = place{le.Mark.Line, max(le.Mark.Column, 1)}
		}
		switch m := le.Message; {
		case strings.Contains(m, "anchor"):
			msg = "a value that begins with * or & must stand in quotes"
		case strings.Contains(m, "mapping values are not allowed"):
			msg = "a colon where none can be: put the value in quotes, or correct the indentation"
		case strings.Contains(m, "cannot start any token") && tabbed(content, at.line):
			msg = "the line is indented by a tab: indent it by spaces"
		case strings.Contains(m, "cannot start any token"):
			msg = "a value that begins with @, % or ` must stand in quotes"
		case strings.Contains(m, "did not find expected '-' indicator"),
			strings.Contains(m, "did not find expected key"):
			msg = "the indentation is wrong: what belongs together begins in the same column"
		case strings.Contains(m, "end of stream") && strings.Contains(le.ContextMsg, "quoted"):
			at, msg = place{le.ContextMark.Line, max(le.ContextMark.Column, 1)},
				"a quote is opened here and never closed"
		case !strings.ContainsAny(m, `"'`) || strings.Contains(m, "did not find expected"):
			msg += ": " + m
		}
		if c := le.ContextMark; c.Line > 0 && c.Line != at.line {
			msg += fmt.Sprintf(" (what it belongs to begins on line %d)", c.Line)
		}
	}
	d.report(at, "", "%s", msg)
}

// tabbed reports whether a tab stands among the spaces that a line begins with.
func tabbed(content []byte, line int) bool {
	for range line - 1 {
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	return bytes.HasPrefix(bytes.TrimLeft(content, " "), []byte("\t"))
}

// badByte finds the first byte that is not text.
func badByte(content []byte) (place, bool) {
	at := place{1, 1}
	for len(content) > 0 {
		r, n := utf8.DecodeRune(content)
		switch {
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\n' && r != '\r' && r != '\t', r == 0x7f:
			return at, true
		case r == '\n':
			at = place{at.line + 1, 1}
		default:
			at.col++
		}
		content = content[n:]
	}
	return place{}, false
}
