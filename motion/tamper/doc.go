// Package tamper tells when a camera's view was interfered with: covered, blinded, defocused,
// turned away, or replaced by a picture that stands still. It looks at the same luma pictures as
// the motion detector, beside it, and knows nothing of motion's spans.
//
//	w, err := tamper.New(tamper.Config{})
//	…
//	for _, c := range w.Step(picture) { // c.Kind is Began or Ended, c.Reason is "covered", …
//	}
//
// What tells is structure, not light. Twice a second the picture is reduced to some 3,600 cells,
// and what stands out of each cell's neighbourhood is compared, block by block, with what has been
// seen there in the last minutes (package reference): normalised correlation does not mind gain,
// offset or gamma, so a light switch, dusk or a cloud change nothing, and where edges stay but
// their sign does not, as at an infrared cut, the places of the edges still tell. Several
// references are kept: day, night, and views that were accepted. A finer comparison, pixel by
// pixel, tells sharpness against the scene's own, and why structure is gone: what lies before the
// lens is too near to have any of its own, another view has, and of a view that is only out of
// focus, however far, the light and dark of its parts are left. Whether pictures stand still is
// judged by what this camera did before: a camera whose noise changed every picture and now repeats
// one is frozen; one whose encoder always repeats what is quiet is not, unless the clock in its
// picture stops.
//
// The reasons, and when a span of each ends:
//
//	covered    the scene's structure is gone, or very faint      when it is back
//	           behind paint or a cloth that lets light through
//	blinded    so is it, behind light that saturates             when it is back
//	turned     other structure stands in its place               when it is back, or accepted
//	defocused  fine structure is gone, coarse structure stays    when it is back, or accepted
//	frozen     the same picture comes again and again            when pictures change again
//
// A view is accepted after Config.Accept.
//
// Every reason needs some seconds, so that a truck or a person close to the lens is none; all are
// found within ten.
package tamper
