//go:build !cgo

package jpeg

// libjpeg is not there without cgo.
func libjpeg() implementation { return nil }
