// Package track follows the areas of a picture over the pictures that come after it, and tells
// which of them are somebody or something on its way.
//
// It stands between package area, which finds the areas of one picture, and the spans of package
// motion, which begin with a confirmed track. What it knows of a thing is where it goes (way.go),
// what it looks like (look.go), when it was seen first (trail.go, entry.go) and what else is about
// (weather.go); confirm.go decides.
//
//	var tracks track.Tracker
//	tracks.Resize(160, 90)
//	tracks.Step(areas, at, passed, wall)
//	if a := &areas[0]; a.Track >= 0 && tracks.Tracks[a.Track].Live {
//		// it moves, as it has since tracks.Tracks[a.Track].Start
//	}
package track
