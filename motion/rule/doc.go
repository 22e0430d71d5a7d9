// Package rule follows the things of a camera's pictures one by one, and tells when one crosses a
// line, is in an area, or stays there for longer than a set time.
//
// It stands beside the spans of package motion, between the detector and the pipeline: the detector
// finds what stands out of a picture (motion.Thing) and decides what of it is motion, path.go and
// follow.go tell which thing of a picture is which of the picture before, line.go and area.go hold
// what is drawn against the ways of the things. A camera without lines and areas has no Watch, and
// costs nothing.
//
//	w, err := rule.New(rule.Config{Lines: []rule.Line{{ID: "gate", Points: [][2]float64{{0, .5}, {1, .5}}}}})
//	…
//	for _, c := range w.Step(picture, detector.Things(nil)) { // c.Kind is Crossed, c.Direction AToB
//	}
package rule
