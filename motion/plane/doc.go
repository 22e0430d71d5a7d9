// Package plane holds the loops that touch every pixel or every cell of a picture.
//
// It stands below motion, which decides what the cells mean; here nothing is decided. Every loop
// has a plain version in Go, which is the reference and runs everywhere, and where it pays a fast
// one beside it that gives exactly the same: eight bytes of a word at a time in Go, or the vector
// instructions that every amd64 (SSE2) and every arm64 (NEON) processor has, and those of AVX2 for
// the longest loops. The build tag purego leaves the assembly out. A vector loop does what fills
// its vectors, and says how much; the plain one does the rest:
//
//	plane.Means(picture.Luma, picture.Stride, 2, 160, 90, cells)
//	plane.Classify(cells, before, light, background, noise, 1536, flags)
//	solid := despeckler.Run(flags, mask, 160, 90, out)
//
// The vector loops of the other processor are tested with qemu: GOARCH=arm64 go test -exec
// qemu-aarch64 ./motion/plane
//
// Values of cells are in 1/256 grey levels. All slices of cells that a function takes have at least
// the length of the first; nothing is kept, nothing is allocated, and different goroutines may work
// on different slices.
package plane
