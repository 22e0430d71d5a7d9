//go:build !purego

package tally

import "golang.org/x/sys/cpu"

// hasAVX2 tells whether the processor has vectors of 256 bits. Only tests change it.
var hasAVX2 = cpu.X86.HasAVX2
