// Package shake puts the pictures of a camera that shakes back in their place, before package motion compares them with the background.
//
//	var steady shake.Steady
//	steady.Resize(160, 90, samples)
//	steady.Run(background, cells) // cells are where they belong; they were steady.DX, steady.DY away
package shake
