//go:build !cgo || !(amd64 || arm64)

package steady

import (
	"image"
	"os"
	"unsafe"

	"vmsbridge/agent/codec/planar"
)

// Expand is planar.Expand.
func Expand(m *image.YCbCr) { planar.Expand(m) }

// NewBudget answers nothing: libavcodec asks Go for memory.
func NewBudget(BudgetFunctions) (calls unsafe.Pointer, getBuffer uintptr) { return nil, 0 }

// Loop is not there in builds without C.
type Loop struct{}

// New answers nil: all requests are served in Go.
func New(*os.File, *os.File, []byte, Functions, bool) *Loop { return nil }

// Add is never called.
func (*Loop) Add(uint32, *Stream) {}

// Remove is never called.
func (*Loop) Remove(uint32) {}

// Next is never called.
func (*Loop) Next() Why { return Leave }

// Read is never called.
func (*Loop) Read([]byte) (int, error) { return 0, os.ErrInvalid }

// Unit is never called.
func (*Loop) Unit() []byte { return nil }

// Fed is never called.
func (*Loop) Fed() (number uint32, lumaFrom int64, sent, received int32, frames []unsafe.Pointer) {
	return 0, 0, 0, 0, nil
}

// Served is never called.
func (*Loop) Served() int { return 0 }

// Err is never called.
func (*Loop) Err() error { return os.ErrInvalid }

// Close is never called.
func (*Loop) Close() {}
