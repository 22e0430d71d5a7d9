// Package scripts_test holds what keeps the house in order: the table of imports, and what every
// script promises.
package scripts_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "vmsbridge"

// allowed says which of our packages each package may import. "x/..." means x and the rooms below
// it, on both sides; a row of a package's own comes before that. Every package may import its own
// rooms, and tests may import more. A package that no row covers is an error: decide where it
// stands, then write it here.
var allowed = map[string][]string{
	"configs/...":        nil,
	"motion":             {"motion/area", "motion/exposure", "motion/plane", "motion/shake", "motion/track"},
	"motion/track":       {"motion/area"},
	"motion/area":        {"motion/plane"},
	"motion/exposure":    {"motion/plane", "motion/tally"},
	"motion/shake":       {"motion/plane"},
	"motion/plane":       nil,
	"motion/tally":       nil,
	"motion/rule":        {"motion"},                 // for its Thing
	"motion/tamper":      {"motion", "motion/plane"}, // for its Picture
	"agent/clock":        nil,
	"agent/rawfd":        nil, // system calls that do not wait
	"agent/camera":       {"agent/rawfd"},
	"agent/camera/unit":  nil,
	"agent/camera/clip":  {"scripts/harness"}, // for tests only
	"agent/codec/...":    {"agent/codec/..."},
	"agent/codec":        {"agent/rawfd", "agent/supervisor"},
	"agent/discover/...": nil,
	"agent/supervisor":   nil,
	"agent/control":      nil,
	"agent/health": {"agent/camera", "agent/clock", "agent/codec", "agent/supervisor", "configs", "storage/database",
		"storage/journal", "storage/stills", "storage/vfs", "uplink/delivery", "uplink/vms"},
	"agent/archive": {"agent/clock", "agent/health", "agent/pipeline", "configs", "storage/guard", "storage/journal",
		"storage/stills", "storage/vfs", "uplink/vms"},
	"agent/arming": {"configs"},      // which cameras are armed
	"agent/web":    {"uplink/route"}, // the page: embedded files
	// finds cameras and writes them into the configuration
	"agent/setup": {"agent/camera", "agent/codec", "agent/discover", "configs", "storage/vfs"},
	"agent/api": {"agent/archive", "agent/arming", "agent/control", "agent/health", "agent/setup", "agent/web",
		"storage/journal", "storage/stills", "storage/vfs", "configs", "uplink/identity/...", "uplink/server/...",
		"uplink/vms"},
	"agent/outbound": {"agent/clock", "agent/control", "agent/supervisor", "configs", "storage/journal", "uplink/..."},
	"agent/pipeline": {"agent/camera", "agent/codec", "agent/supervisor", "configs", "motion/...",
		"storage/stills", "uplink/vms"},
	"storage/vfs":            nil,             // files, and the seam at which tests fail the stores
	"storage/vfs/witness":    nil,             // for tests only: what a crash may leave behind
	"storage/vfs/vfstest":    {"storage/vfs"}, // for tests only: disks that fail
	"storage/stills":         {"storage/vfs"},
	"storage/stills/segment": {"storage/vfs"},
	"storage/bench":          {"storage/..."}, // a module of its own
	"storage/journal":        {"storage/guard", "storage/vfs", "uplink/vms"},
	"storage/journal/sample": {"storage/boltfile", "uplink/vms"}, // for tests only
	"storage/journal/file": {"storage/boltfile", "storage/guard", "storage/journal/schema", "storage/vfs",
		"uplink/vms"},
	"storage/journal/schema":        {"storage/guard", "uplink/vms"},       // bytes and rows, no file
	"storage/guard":                 {"storage/boltfile", "storage/vfs"},   // bbolt, and what it makes of damage
	"storage/database":              {"storage/boltfile", "storage/guard"}, // small records
	"storage/postgres":              {"storage/database", "storage/journal", "storage/journal/schema", "uplink/vms"},
	"storage/postgres/postgrestest": nil, // for tests only: a server of their own
	"storage/boltfile":              nil, // a file of bbolt's without bbolt
	"uplink/admit":                  nil, // who gets in, and how much strangers may hold
	"uplink/vms/...":                nil,
	"uplink/client/...":             {"storage/vfs", "uplink/delivery", "uplink/vms"},
	"uplink/delivery":               {"uplink/vms"}, // from a cursor to a sink
	// a broker, and Home Assistant through it
	"uplink/mqtt":    {"uplink/delivery", "uplink/vms"},
	"uplink/file":    {"uplink/delivery", "uplink/vms"}, // lines of JSON; the example of a sink
	"uplink/webhook": {"uplink/delivery", "uplink/vms"}, // signed requests to anyone
	"uplink/tunnel":  nil,
	// identity's Principal says who asks
	"uplink/server/...":         {"uplink/admit", "uplink/route", "uplink/vms", "uplink/identity"},
	"uplink/server/openapitest": nil, // for tests only
	"agent":                     {"configs", "motion/...", "agent/...", "storage/...", "uplink/..."},
	"scripts/...":               nil,     // peers: it runs the programs, as a person would
	"scripts/harness":           nil,     // for tests only: waiting, ports, programs
	"scripts/lab/...":           {"..."}, // a module of its own: what no box runs
	"cmd/vmscloud/registry":     {"storage/database", "uplink/vms", "uplink/identity/..."},
	"cmd/...":                   {"..."},

	"uplink/identity":       {"uplink/vms"},
	"uplink/identity/api":   nil, // parameters and errors of requests
	"uplink/identity/model": {"uplink/identity", "uplink/identity/api"},
	"uplink/identity/store": {"storage/database", "uplink/vms", "uplink/identity",
		"uplink/identity/model"},
	"uplink/identity/notify": {"uplink/vms", "uplink/identity", "uplink/identity/model",
		"uplink/identity/store"},
	"uplink/identity/session": {"uplink/identity", "uplink/identity/api", "uplink/identity/model",
		"uplink/identity/notify", "uplink/identity/store"},
	"uplink/identity/saml": {"storage/database", "uplink/identity", "uplink/identity/api", "uplink/identity/model",
		"uplink/identity/store"},
	"uplink/identity/oauth": {"storage/database", "uplink/route", "uplink/vms", "uplink/identity",
		"uplink/identity/api", "uplink/identity/model", "uplink/identity/session", "uplink/identity/store"},
	"uplink/identity/web": {"uplink/admit", "uplink/route", "uplink/vms", "uplink/identity", "uplink/identity/api",
		"uplink/identity/model", "uplink/identity/notify", "uplink/identity/session", "uplink/identity/store"},
	"uplink/route": nil, // paths and methods of HTTP
	"uplink/identity/identitytest": {"storage/database", "uplink/identity",
		"uplink/identity/model", "uplink/identity/store"},
}

// The arrows of the house point one way. The sources are read through os, so that the test cache
// sees a change in them.
func TestImportTable(t *testing.T) {
	seen := 0
	for dir, imports := range packages(t, "..") {
		seen++
		row, ok := rowOf(dir)
		if !ok {
			t.Errorf("package %s is not in the table of imports", dir)
			continue
		}
		for path, file := range imports {
			if matches(dir+"/...", path) {
				continue
			}
			if !slices.ContainsFunc(allowed[row], func(pattern string) bool { return matches(pattern, path) }) {
				t.Errorf("%s imports %s: %s may import only %q of ours", file, path, dir, allowed[row])
			}
		}
	}
	require.Greater(t, seen, 3, "the sources were not found")
}

// The table can fail: a package that imports against the arrows is found.
func TestImportTableFindsABadImport(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "motion"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "motion", "x.go"),
		[]byte("package motion\nimport _ \"vmsbridge/uplink/vms\"\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "motion", "x_test.go"),
		[]byte("package motion\nimport _ \"vmsbridge/agent\"\n"), 0o644))
	require.Equal(t, map[string]map[string]string{"motion": {"uplink/vms": "motion/x.go"}}, packages(t, root))
	require.False(t, matches("uplink/vms", "uplink/vmsx"))
	require.True(t, matches("agent/...", "agent/camera"))
	require.False(t, matches("agent/...", "agents"))
}

// packages lists every folder with Go files under root, and for each what it imports of ours and
// where, tests left out.
func packages(t *testing.T, root string) map[string]map[string]string {
	found := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if found[dir] == nil {
			found[dir] = map[string]string{}
		}
		for _, spec := range file.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil &&
				strings.HasPrefix(imported, module+"/") {
				found[dir][strings.TrimPrefix(imported, module+"/")] = filepath.ToSlash(rel)
			}
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// rowOf finds the row of the table for a package: its own, else the nearest one above that covers
// it.
func rowOf(dir string) (string, bool) {
	if _, ok := allowed[dir]; ok {
		return dir, true
	}
	for d := dir; d != "."; d = filepath.Dir(d) {
		if _, ok := allowed[d+"/..."]; ok {
			return d + "/...", true
		}
	}
	return "", false
}

func matches(pattern, path string) bool {
	if pattern == "..." {
		return true
	}
	if above, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == above || strings.HasPrefix(path, above+"/")
	}
	return pattern == path
}
