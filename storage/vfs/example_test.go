package vfs_test

import (
	"fmt"
	"os"
	"path/filepath"

	"vmsbridge/storage/vfs"
)

// A file gets another content as a whole: a power cut leaves the old one or the new one.
func ExampleReplace() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "token")
	fmt.Println(vfs.Replace(path, []byte("secret"), 0o600, -1, -1))
	content, err := os.ReadFile(path)
	fmt.Println(string(content), err)
	// Output:
	// <nil>
	// secret <nil>
}
