package scripts_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layered are the packages whose files stand in layers: a file uses what is in those below it, and
// none of them uses it.
var layered = []string{"agent", "agent/api", "agent/archive", "agent/health", "agent/supervisor", "agent/pipeline"}

// No arrow between the files of a package runs back up. What calls a method uses the file that it
// stands in, and that file uses its type's.
func TestFilesStandInLayers(t *testing.T) {
	for _, dir := range layered {
		sources, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		require.NoError(t, err)
		texts := map[string]string{}
		for _, path := range sources {
			if !strings.HasSuffix(path, "_test.go") {
				text, err := os.ReadFile(path) // through os, so that the test cache sees a change
				require.NoError(t, err)
				texts[filepath.Base(path)] = string(text)
			}
		}
		require.NotEmpty(t, texts, dir)
		for _, circle := range circles(t, texts) {
			t.Errorf("%s: these files use each other: %s", dir, circle)
		}
	}
}

// The wiring stays wiring: what the Agent does stands in the parts that it makes.
func TestTheAgentIsOnlyWiring(t *testing.T) {
	sources, err := filepath.Glob("../agent/*.go")
	require.NoError(t, err)
	methods, lines := 0, 0
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
			if strings.HasPrefix(line, "func (a *Agent) ") {
				methods++
			}
		}
	}
	require.LessOrEqual(t, methods, 20, "methods of Agent")
	require.LessOrEqual(t, lines, 900, "lines of code")
	require.Greater(t, methods, 5, "the sources were not found")
}

func TestFilesThatUseEachOtherAreFound(t *testing.T) {
	below := "package p\ntype T struct{ u U }\ntype U struct{}\n"
	require.Empty(t, circles(t, map[string]string{"a.go": below,
		"b.go": "package p\nfunc (t T) f() { t.u.missing() }\nfunc New() T { return T{} }\n"}))
	require.Equal(t, []string{"a.go b.go"}, circles(t, map[string]string{"a.go": below + "func g(t T) { t.f() }\n",
		"b.go": "package p\nfunc (t T) f() {}\n"}))
	require.Equal(t, []string{"a.go b.go c.go"}, circles(t, map[string]string{"a.go": "package p\nvar a = b\n",
		"b.go": "package p\nvar b = c\n",
		"c.go": "package p\nfunc c() { _ = a }\n", "d.go": "package p\nfunc d() { c() }\n"}))
}

// nothing imports nothing: what comes from other packages is of no matter here.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) { return nil, errors.New("not here") }

// circles are the sets of files of a package that use each other, each as its sorted names.
func circles(t *testing.T, texts map[string]string) []string {
	fset, files := token.NewFileSet(), []*ast.File{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		file, err := parser.ParseFile(fset, name, texts[name], parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, files, info) // with errors: it knows no other package
	uses := map[string]map[string]bool{}
	for id, object := range info.Uses {
		field := false
		if v, ok := object.(*types.Var); ok {
			field = v.IsField()
		}
		if object.Pkg() != pkg || field || !object.Pos().IsValid() {
			continue
		}
		from, to := fset.Position(id.Pos()).Filename, fset.Position(object.Pos()).Filename
		if from != to {
			if uses[from] == nil {
				uses[from] = map[string]bool{}
			}
			uses[from][to] = true
		}
	}
	reach := func(from string) map[string]bool {
		seen, todo := map[string]bool{}, []string{from}
		for len(todo) > 0 {
			for next := range uses[todo[0]] {
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
			todo = todo[1:]
		}
		return seen
	}
	all := map[string]map[string]bool{}
	for name := range texts {
		all[name] = reach(name)
	}
	found := map[string]bool{}
	for name := range texts {
		var circle []string
		for other := range texts {
			if all[name][other] && all[other][name] {
				circle = append(circle, other)
			}
		}
		if len(circle) > 1 {
			slices.Sort(circle)
			found[fmt.Sprint(strings.Join(circle, " "))] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
