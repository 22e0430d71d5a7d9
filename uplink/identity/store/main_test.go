package store

import (
	"os"
	"testing"
)

// testDir is where property tests, which run many times in one test, put their files.
var testDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "identity-store")
	if err != nil {
		panic(err)
	}
	testDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func mkdir(dir string) error { return os.Mkdir(dir, 0o700) }
