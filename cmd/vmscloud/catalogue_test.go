package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// eventType is a whole name of an event's type.
var eventType = regexp.MustCompile(`^vms\.(\w+)Event\.v1$`)

// madeBelow are the types, by their short names, that the sources below some folders of the project
// make events of: those that are written there for any other purpose than to be compared with.
func madeBelow(t *testing.T, folders ...string) map[string]bool {
	made := map[string]bool{}
	constants := map[string]string{"TypeMotion": vms.TypeMotion, "TypeMotionInRegion": vms.TypeMotionInRegion,
		"TypeTamper":       vms.TypeTamper,
		"TypeDeviceStatus": vms.TypeDeviceStatus, "TypeLineCross": vms.TypeLineCross,
		"TypeIntrusion": vms.TypeIntrusion,
		"TypeLoiter":    vms.TypeLoiter}
	note := func(n ast.Node) bool {
		name := ""
		switch n := n.(type) {
		case *ast.BinaryExpr:
			return n.Op != token.EQL && n.Op != token.NEQ // what is compared is not made
		case *ast.CaseClause:
			return len(n.List) == 0
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && of.Name == "vms" {
				name = constants[n.Sel.Name]
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				name, _ = strconv.Unquote(n.Value)
			}
		}
		if m := eventType.FindStringSubmatch(name); m != nil {
			made[m[1]] = true
		}
		return true
	}
	for _, folder := range folders {
		files := 0
		require.NoError(t,
			filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				files++
				text, err := os.ReadFile(path) // so that the test cache sees a change
				if err != nil {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
				if err == nil {
					ast.Inspect(file, note)
				}
				return err
			}))
		require.NotZero(t, files, folder)
	}
	return made
}

// The table of types in uplink/README.md names each type of the catalogue once, and says of each
// rightly whether the bridge or the service makes it.
func TestTheTableOfTypesIsRight(t *testing.T) {
	text, err := os.ReadFile("../../uplink/README.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "## Who makes which event\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	makers, rest := map[string]string{}, false
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, "made by") {
			continue
		}
		if strings.Contains(cells[1], "all others") {
			require.Contains(t, cells[2], "nobody")
			rest = true
			continue
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			name = strings.Trim(strings.TrimSpace(name), "`")
			require.True(t,
				slices.ContainsFunc(vms.TypeIDs(), func(id string) bool { return id == "vms."+name+"Event.v1" }),
				"the catalogue has no %q", name)
			require.NotContains(t, makers, name, "it stands there twice")
			makers[name] = cells[2]
		}
		require.NotEmpty(t, strings.TrimSpace(cells[3]), "who may report %s", cells[1])
	}
	require.True(t, rest, "what is said of all others")
	bridge, service := madeBelow(t, "agent", "motion"), madeBelow(t, "cmd/vmscloud", "uplink/identity/notify")
	for _, id := range vms.TypeIDs() {
		name := eventType.FindStringSubmatch(id)[1]
		require.Equal(t, bridge[name], strings.Contains(makers[name], "the bridge"), "made by the bridge, %s: %q", name,
			makers[name])
		require.Equal(t, service[name], strings.Contains(makers[name], "the service"), "made by the service, %s: %q",
			name, makers[name])
	}
}
