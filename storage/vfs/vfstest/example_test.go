package vfstest_test

import (
	"errors"
	"fmt"

	"vmsbridge/storage/vfs/vfstest"
)

// The third operation on a disk fails, as a test of a store wants it.
func ExampleInject() {
	n := 0
	disk := vfstest.Inject(vfstest.NewDisk(1<<20), func(vfstest.Op) error {
		if n++; n == 3 {
			return errors.New("the cable was pulled")
		}
		return nil
	})
	for _, name := range []string{"/a", "/b", "/c"} {
		fmt.Println(disk.MakeDir(name))
	}
	// Output:
	// <nil>
	// <nil>
	// the cable was pulled
}
