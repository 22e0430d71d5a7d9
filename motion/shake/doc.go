// Package shake puts the pictures of a camera that shakes back in their place, before package
// motion compares them with the background.
//
//	var steady shake.Steady
//	steady.Resize(160, 90, samples)
//	// cells are where they belong; they were steady.DX, steady.DY away
//	steady.Run(background, cells)
package shake
