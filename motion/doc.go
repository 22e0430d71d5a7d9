// Package motion finds what moves in the pictures of one camera, and when.
//
// It stands between agent/codec, which decodes a picture and reduces its luma, and the agent, which
// makes events and stills of what is found here. It is pure: no goroutine, no clock, no file, no
// network; the time is the one that the pictures bring.
//
//	detector, err := motion.New(motion.Config{})
//	for picture := range pictures {
//		result := detector.Step(motion.Picture{Luma: picture.Luma, Width: 320, Height: 180,
//		Stride: 320, Time: picture.Time})
//		for _, change := range result.Changes {
//			// change.Kind is Began or Ended, change.Start the first picture with motion
//		}
//	}
//	for _, change := range detector.Gap() {
//		// the stream was lost: what was open has ended
//	}
//
// A picture takes this way: cells (grid.go) → put back in their place (package shake) and compared
// in one light (package exposure) → cells that differ from the background or from a moment ago
// (model.go, classify.go) → despeckling → a change of light told from a change of things
// (structure.go) → connected areas (package area) and which of them are light (find.go, glare.go,
// core.go) → tracks over pictures (package track) → spans (span.go) → what is learned of the
// picture (adapt.go). step.go has them in this order. The loops over all pixels and cells are in
// package plane. README.md explains the choices.
package motion
