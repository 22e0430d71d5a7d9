package configs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// REFERENCE.md is made of the comments of the structs that the YAML is decoded into, and of what
// Default returns:
//
//	go test ./configs -run Reference -update
func TestReferenceIsCurrent(t *testing.T) {
	want := reference(t)
	if *update {
		require.NoError(t, os.WriteFile("REFERENCE.md", []byte(want), 0o644))
	}
	got, err := os.ReadFile("REFERENCE.md")
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run: go test ./configs -run Reference -update")
}

// Every key of the reference is one that the decoder takes, and the other way round; each says
// something.
func TestReferenceHasEveryKey(t *testing.T) {
	text := reference(t)
	for _, key := range everyKey() {
		require.Regexp(t, "(?m)^(\\| `([a-z_.\\[\\]]+\\.)?"+key+"(\\[\\])?` \\||## "+key+"$)", text,
			"%s is not in the reference", key)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `.*$").FindAllString(text, -1) {
		require.NotRegexp(t, `\|\s*\|\s*$`, row, "nothing is said of a key")
		require.NotRegexp(t, `after Load|TokenVariable`, row, "a word for programmers")
	}
}

// A bound that the reference names is the one that is checked: the value at either end is taken,
// the one beyond is not.
func TestReferenceNamesTheRealBounds(t *testing.T) {
	tried := 0
	for _, k := range keys(t) {
		m := regexp.MustCompile(`(?:^|\. |: |\bor )([0-9]\S*) to ([0-9][^\s.,(]*(?: million)?)`).FindStringSubmatch(
			k.text)
		if m == nil || k.typ.Kind() == reflect.Slice || strings.Contains(k.path, "[]") {
			continue
		}
		tried++
		low, high := m[1], strings.ReplaceAll(m[2], " million", "000000")
		for value, good := range map[string]bool{low: true, high: true, below(k.typ, low): false,
			above(k.typ, high): false} {
			require.Equal(t, good, accepted(t, k.path, value), "%s: %s (it says %q)", k.path, value, k.text)
		}
	}
	require.Greater(t, tried, 12, "hardly a bound was found in the texts")
}

// accepted tells whether a file with this one value has no problem at it.
func accepted(t *testing.T, path, value string) bool {
	t.Helper()
	var y strings.Builder
	parts := strings.Split(path, ".")
	for i, p := range parts {
		y.WriteString(strings.Repeat("  ", i) + p + ":")
		if i == len(parts)-1 {
			y.WriteString(" " + value)
		}
		y.WriteString("\n")
	}
	_, err := Parse("x.yaml", []byte(y.String()))
	problems, _ := err.(Problems)
	return !slices.ContainsFunc(problems, func(p Problem) bool { return p.Path == path })
}

func below(typ reflect.Type, value string) string { return stepped(typ, value, -1) }
func above(typ reflect.Type, value string) string { return stepped(typ, value, +1) }

// stepped is the next value that a file can say.
func stepped(typ reflect.Type, value string, by int64) string {
	switch typ {
	case reflect.TypeFor[time.Duration]():
		d, _ := time.ParseDuration(value)
		return (d + time.Duration(by)*time.Millisecond).String()
	case reflect.TypeFor[Size]():
		s, _ := ParseSize(value)
		return fmt.Sprint(int64(s) + by)
	default:
		var n int64
		_, _ = fmt.Sscan(value, &n)
		return fmt.Sprint(n + by)
	}
}

// key is one line of the reference.
type key struct {
	path string // stills.max_size, cameras[].motion.regions[].area
	typ  reflect.Type
	text string // for people
	def  string // of an empty file
}

// reference writes all keys as Markdown, a table for each group.
func reference(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Every key of the YAML\n\nMade from the code by `go test ./configs -run Reference -update`. " +
		"Times carry a unit (500ms, 10s, 2h), sizes too (500MB, 4GiB).\n" +
		"Unknown and double keys are errors; a key without a value means the default. A relative path counts from " +
		"the YAML file's folder.\n" +
		"[vmsbridge.example.yaml](vmsbridge.example.yaml) shows them at work.\n")
	group := ""
	for _, k := range keys(t) {
		if g, _, _ := strings.Cut(k.path, "."); g != group {
			group = g
			fmt.Fprintf(&b, "\n## %s\n\n| key | is | default | meaning |\n|---|---|---|---|\n",
				strings.TrimSuffix(g, "[]"))
		}
		if !strings.Contains(k.path, ".") && nested(k.typ) {
			continue // the heading says it
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.path, kind(k.typ), k.def, strings.ReplaceAll(k.text, "|", "\\|"))
	}
	return b.String()
}

// keys lists every key in the order of the structs, with the comment on its field.
func keys(t *testing.T) []key {
	comments := fieldComments(t)
	var all []key
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		typ := v.Type()
		names := map[string]string{}
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
			names[typ.Field(i).Name] = name
		}
		said := ""
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, inline, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name == "-" {
				continue
			}
			if inline == "inline" {
				walk(v.Field(i), path)
				continue
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			inner := v.Field(i)
			// a field may share the comment of the one above it
			text := cmp.Or(comments[typ.Name()+"."+f.Name], comments[f.Type.Name()], said)
			said = text
			if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
				at, inner = at+"[]", reflect.New(f.Type.Elem()).Elem()
				if d, ok := inner.Addr().Interface().(defaulter); ok {
					d.setDefaults()
				}
			}
			def := defaultOf(v.Field(i))
			if typ == reflect.TypeFor[Motion]() && strings.HasPrefix(path, "cameras") {
				def = "that of `motion`"
			}
			all = append(all, key{at, f.Type, forPeople(text, name, def, names), def})
			if nested(inner.Type()) {
				walk(inner, at)
			}
		}
	}
	walk(reflect.ValueOf(Default()).Elem(), "")
	return all
}

func nested(typ reflect.Type) bool {
	if typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return typ.Kind() == reflect.Struct && typ != reflect.TypeFor[Secret]()
}

func kind(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[time.Duration]():
		return "time"
	case reflect.TypeFor[Size]():
		return "size"
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[Polyline]():
		return "points"
	case reflect.TypeFor[Polygon]():
		return "corners"
	}
	switch typ.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list"
	case reflect.Struct:
		return "group"
	}
	return "text"
}

func defaultOf(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool || nested(v.Type()) || v.Kind() == reflect.Slice {
		return ""
	}
	text := fmt.Sprint(v.Interface())
	if d, ok := v.Interface().(time.Duration); ok {
		text = forPerson(d)
	}
	return "`" + text + "`"
}

// forPerson writes a duration as a person would: 720h is 30d, and no zeros at the end.
func forPerson(d time.Duration) string {
	if d >= day && d%day == 0 {
		return fmt.Sprint(int64(d/day)) + "d"
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// forPeople is a field's comment with the names of fields replaced by those of keys, without what
// the other columns say, and without what concerns programmers.
func forPeople(text, name, def string, names map[string]string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = regexp.MustCompile(`(?:, a|\. A|: a|; a)bsolute after Load\b`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, " is complete after Load: what", ": what")
	text = strings.ReplaceAll(text, "when the configuration was loaded", "at the start")
	text = strings.NewReplacer("TokenVariable", "`"+TokenVariable+"`", "Config.Motion",
		"the group `motion`").Replace(text)
	if value := strings.Trim(def, "`"); value != "" {
		text = regexp.MustCompile(`(, d|\. D)efault "?`+regexp.QuoteMeta(value)+`"?([;,.]|$)`).ReplaceAllString(text,
			"$2")
	}
	text = regexp.MustCompile(`\b[A-Z]\w+\b`).ReplaceAllStringFunc(text, func(word string) string {
		if name := names[word]; name != "" && name != "-" {
			return "`" + name + "`"
		}
		return word
	})
	if rest, ok := strings.CutPrefix(text, "`"+name+"` is "); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(text, "`"+name+"` are "); ok {
		return rest
	}
	return text
}

// fieldComments are the comments of this package's structs ("Camera") and their fields
// ("Camera.ID").
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	plain := func(g *ast.CommentGroup) string {
		var p comment.Parser
		return string((&comment.Printer{TextWidth: -1}).Text(p.Parse(g.Text())))
	}
	all := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			for _, s := range d.Specs {
				spec := s.(*ast.TypeSpec)
				all[spec.Name.Name] = plain(d.Doc)
				st, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, field := range st.Fields.List {
					for _, id := range field.Names {
						all[spec.Name.Name+"."+id.Name] = plain(field.Doc)
					}
				}
			}
			return false
		})
	}
	return all
}
