// Package exposure finds how the brightness of a whole scene changed between two pictures, so that
// package motion can compare them in the same light: a gain and an offset for the whole of it, and
// gains for its rows where lamps at the mains beat with the shutter.
//
//	var light exposure.Fitter
//	light.Choose(mask)
//	light.Take(cells, samples)         // of each picture, once
//	light.Look(samples, flags, moving) // what the next fits lead to
//	change := light.Fit(before)        // what takes the samples of another picture there
package exposure
