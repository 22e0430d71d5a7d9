package supervisor

import (
	"fmt"
	"runtime/debug"
)

// Caught is f with an error in place of a panic. The error has the panic's value and the stack.
func Caught(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		return f()
	}
}
