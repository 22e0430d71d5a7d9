package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lab are the programs of the module in scripts/lab; all others are the product's.
var lab = map[string]bool{"camsim": true, "lab": true}

// Build builds programs into a folder: vmsbridge and vmscloud, with the race detector if race is
// set, and camsim and lab without it, as it takes them a minute to draw a scene under it.
func Build(dir string, race bool, programs ...string) error {
	return BuildTagged(dir, race, "", programs...)
}

// BuildTagged is Build with a build tag of the product's.
func BuildTagged(dir string, race bool, tag string, programs ...string) error {
	for _, name := range programs {
		module, pkg, raced := root(), "./cmd/"+name, race
		if lab[name] {
			module, raced = filepath.Join(module, "scripts", "lab"), false
		}
		cmd := exec.Command("go", "build", "-C", module, fmt.Sprintf("-race=%t", raced), "-tags="+tag, "-o",
			filepath.Join(dir, name), pkg)
		if lab[name] {
			host, err := exec.Command("go", "env", "GOHOSTARCH").Output()
			if err != nil {
				return fmt.Errorf("ask go for this machine: %w", err)
			}
			// Where the tests are emulated, the camera is this machine's all the same.
			cmd.Env = append(os.Environ(), "GOARCH="+strings.TrimSpace(string(host)))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// root is the folder of the project: the one above where the test runs that has this package.
func root() string {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "scripts", "harness")); missing == nil {
			return dir
		}
	}
	return "."
}
