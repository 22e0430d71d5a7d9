//go:build !amd64 && !arm64 && !arm

package confine

// On other processors there is no filter: nobody has looked which system calls a decoder does
// there.
const processor = 0

var always, mapping, files, limiting, hostile []uintptr

var opening map[uintptr]int
