package locks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is what was loaded.
type Program struct {
	fset    *token.FileSet
	root    string
	module  string
	funcs   map[string]*function
	methods map[string][]*function // by name
}

// Load reads the packages of a module that match the patterns, without their tests.
func Load(dir string, patterns ...string) (*Program, error) {
	cmd := exec.Command("go",
		append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Module,DepOnly"},
			patterns...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w\n%s", err, stderr.String())
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles, CgoFiles       []string
		Module                  *struct{ Path string }
		DepOnly                 bool
	}
	exports := map[string]string{}
	var ours []listed
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := newProgram(root)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly && l.Module != nil {
			p.module = l.Module.Path
			ours = append(ours, l)
		}
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if file := exports[path]; file != "" {
			return os.Open(file)
		}
		return nil, fmt.Errorf("no export data of %s", path)
	}
	imports := importer.ForCompiler(p.fset, "gc", lookup)
	for _, l := range ours {
		var files []string
		for _, name := range append(l.GoFiles, l.CgoFiles...) {
			files = append(files, filepath.Join(l.Dir, name))
		}
		if err := p.add(l.ImportPath, imports, files); err != nil {
			return nil, err
		}
	}
	p.spread()
	return p, nil
}

func newProgram(root string) *Program {
	return &Program{fset: token.NewFileSet(), root: root, funcs: map[string]*function{},
		methods: map[string][]*function{}}
}

// add reads a package.
func (p *Program) add(path string, imports types.Importer, names []string) error {
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: imports, FakeImportC: true, Error: func(error) {}} // what cgo makes is not known
	_, _ = conf.Check(path, p.fset, files, info)
	for _, f := range files {
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				p.read(path, info, decl)
			}
		}
	}
	return nil
}

// place is a position for a person.
func (p *Program) place(pos token.Pos) string {
	at := p.fset.Position(pos)
	if rel, err := filepath.Rel(p.root, at.Filename); err == nil && !strings.HasPrefix(rel, "..") {
		at.Filename = rel
	}
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}
