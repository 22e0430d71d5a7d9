//go:build !linux

package rawfd

import "io"

// Reader is r.
func Reader(r io.Reader) io.Reader { return r }

// Writer is w.
func Writer(w io.Writer) io.Writer { return w }
