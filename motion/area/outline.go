package area

import "vmsbridge/motion/plane"

// Outline is what edges the cells of an area have that differ from the background: where they end,
// and inside. It tells a thing from light, also from light with a sharp edge here and there. A
// thing ends at once all around, has edges of its own inside, and hides those that the background
// has there. Light fades out on most sides, and leaves the background's edges where they are.
type Outline struct {
	Ends  int // sides of cells at which the area ends
	Sharp int // of those, that end at once
	Inner int // sides within the area
	Torn  int // of those, with an edge that no light makes of the background's
	Own   int // of inner, with an edge of the background's
	Lost  int // of those, that the picture does not have

	Plain  int     // cells of areas that are not glaring
	Glared int     // cells of those that are
	Glow   float64 // of the latter: how little a beam would explain them, in all
}

const (
	Outlined       = 60   // cells, below which an outline says little
	LightSubstance = 0.75 // below which an area is light: most that walks has 1.2 and more, a hand with its shadow 0.8
	ThingSubstance = 0.9  // of a track, from which it may be a thing
)

// ClearContrast is how many times its threshold a thing must differ by to be clear rather than
// faint.
const ClearContrast = 1.8

// Steep is at how many places the difference from the background changes at once, as at a thing's
// edge but not at a soft shadow's.
func (o *Outline) Steep() int { return o.Sharp + o.Torn }

// Add adds another area's outline.
func (o *Outline) Add(b *Outline) {
	o.Ends, o.Sharp, o.Inner, o.Torn, o.Own, o.Lost = o.Ends+b.Ends, o.Sharp+b.Sharp, o.Inner+b.Inner, o.Torn+b.Torn,
		o.Own+b.Own, o.Lost+b.Lost
	o.Plain, o.Glared, o.Glow = o.Plain+b.Plain, o.Glared+b.Glared, o.Glow+b.Glow
}

// Substance is the sum of the shares of the three: 0 for soft light, 1.2 to 2 for most that walks.
// With few edges of the background's it is taken that three of ten are lost.
func (o *Outline) Substance() float64 {
	s := float64(o.Sharp)/float64(max(1, o.Ends)) + 2*float64(o.Torn)/float64(max(1, o.Inner)) +
		(float64(o.Lost)+6)/(float64(o.Own)+20)
	if o.Glared == 0 {
		return s
	}
	return (s*float64(o.Plain) + o.Glow) / float64(o.Plain+o.Glared) // glare knows better
}

// OutlineOf is the outline that was traced.
func OutlineOf(s *plane.Sums) Outline {
	return Outline{Ends: plane.Count(&s.Ends), Sharp: plane.Count(&s.Sharp), Inner: plane.Count(&s.Inner),
		Torn: plane.Count(&s.Torn), Own: plane.Count(&s.Own), Lost: plane.Count(&s.Lost)}
}
