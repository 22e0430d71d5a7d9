package engine

import (
	"os"
	"path/filepath"
)

// shipped is where packages put the libraries that come with the program: ../lib/vmsbridge, seen
// from the program's own file, which is /usr/lib/vmsbridge for /usr/bin/vmsbridge. They are
// preferred to the system's, which may be anything, and come after those that the configuration
// names. Empty if the program does not know where it lies.
func shipped() []string {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{filepath.Join(filepath.Dir(program), "..", "lib", "vmsbridge")}
}
