// Package area finds the connected areas of a picture that differ from the background or from a
// moment ago, measures them, and judges what each of them does.
//
// It stands between package motion, which says of every cell whether it differs, and package track,
// which follows the areas from picture to picture. The loops over cells are in package plane.
// Nothing is allocated after Resize.
//
//	var finder area.Finder
//	finder.Resize(160, 90)
//	finder.Label(solid, parked)
//	for i := range finder.Collect(&views, leastMoved) {
//		// cell x, y is of area i if finder.Of(x, y) is i
//	}
package area
