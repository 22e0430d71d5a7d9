//go:build (amd64 || arm64) && !purego

package plane

// The loops of the assembly files. Each takes as many cells as fill vectors and returns how many it
// did; they are exact only where Exposure.wide holds.

// classifyWide is classifyPlain.
//
//go:noescape
func classifyWide(now, before []uint16, gain, offset int32, background, noise []uint16, contrast int32,
	flags []byte) (done int)

// exposeWide is exposePlain.
//
//go:noescape
func exposeWide(cells []uint16, gain, offset int32) (done int)

// learnWide is learnPlain.
//
//go:noescape
func learnWide(now, before []uint16, gain, offset int32, flags, solid, held []byte, m *Memory, p *Pace) (done int)

// sumWide is sumPlain for a multiple of 16 and at most 1024 points.
//
//go:noescape
func sumWide(x, y []uint16, gain, offset, limit int32, m *Moments)

// widenWide is one row of Means with cells of one pixel.
//
//go:noescape
func widenWide(row []byte, out []uint16) (done int)

// meansTwoWide is Means with cells of 2x2 pixels, at least eight in a row. It returns how many rows
// it did: all.
//
//go:noescape
func meansTwoWide(luma []byte, stride, width, height int, cells []uint16) (done int)

// sumColumnsWide adds up rows, as many bytes of each as there are sums.
//
//go:noescape
func sumColumnsWide(luma []byte, stride, rows int, sums []uint16) (done int)

// meansFourWide is one row of Means with cells of 4x4 pixels.
//
//go:noescape
func meansFourWide(luma []byte, stride int, out []uint16) (done int)

// likeWide is likePlain for eight columns and 1 to 64 rows.
//
//go:noescape
func likeWide(x, y []uint16, pitch, rows int, l *Likeness)

// onesWide is the part of Despeckler.Run that makes a 1 of every flagged byte that is not masked;
// any is not 0 if there is one.
//
//go:noescape
func onesWide(flags, mask, out []byte) (done int, any uint64)

// despeckleWide is the part of Despeckler.Run that counts neighbours: ones begins at the cell
// before the one above the first, and ends at the one after that below the last; rows are pitch
// bytes from the next. Found is how many became solid.
//
//go:noescape
func despeckleWide(ones []byte, pitch int, solid []byte) (done, found int)

// flagsWide is CountFlags for whole blocks in one row of them, of which it takes two at a time.
//
//go:noescape
func flagsWide(flags []byte, pitch, rows int, blocks []Block) (done int)

// solidWide is the same for CountSolid.
//
//go:noescape
func solidWide(flags, solid []byte, pitch, rows int, blocks []Block) (done int)

// tilesWide is the part of Tiles that fills vectors, for some rows of tiles that have two rows of
// cells each. It reads up to 31 cells more, and what the bits of those say is wrong.
//
//go:noescape
func tilesWide(solid, parked []byte, width, rows int, set, stands []uint64) (done int)

// stirsWide is stirsPlain for bits that are zero; young is not 0.
//
//go:noescape
func stirsWide(flags, solid, parked []byte, stay []uint16, young uint16, bits []uint64) (done int)

// measureWide is measurePlain but for the rows: solid and moved tell whether there is such a cell.
// It reads up to seven cells more, and stops before a noise above 16287, whose threshold is more
// than 65535.
//
//go:noescape
func measureWide(v *Views, x, y, n int, s *Sums) (done int, solid, moved bool)

// traceWide is tracePlain; it reads up to seven cells more here and on all sides, and stops as
// measureWide does.
//
//go:noescape
func traceWide(v *Views, x, y, n int, s *Sums) (done int)

// smoothWide is smoothPlain.
//
//go:noescape
func smoothWide(to, a, b, c []uint16) (done int)

// shareWide is sharePlain.
//
//go:noescape
func shareWide(to, from []uint16, share uint16) (done int)

// wearWide is wearPlain.
//
//go:noescape
func wearWide(memory, flags, passing []byte, up, down uint8) (done int)

// pickWide is pickPlain; all numbers are those of cells.
//
//go:noescape
func pickWide(cells []uint16, at []int32, to []uint16) (done int)

// flaggedWide is flaggedPlain; all numbers are those of cells.
//
//go:noescape
func flaggedWide(flags []byte, at []int32, some byte, to []uint16) (done int)
