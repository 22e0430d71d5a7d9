// Package panics makes errors of panics, so that one camera's bug never takes the process. Everything that the
// agent starts for one camera, or for one neighbour, goes through it:
//
//	g.Go(panics.Caught(func() error { return pipeline.Run(ctx) }))
package panics

import (
	"fmt"
	"runtime/debug"
)

// Caught is f with an error in place of a panic, which names the panic's value and the stack.
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
