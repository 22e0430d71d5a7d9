package track

import "time"

// What a track must show to be motion, when it is large: what is small or slow is told by where it
// is (presence.go).
const (
	ConfirmActive = 250 * time.Millisecond // of motion that goes on, picture after picture
	confirmStrong = 450 * time.Millisecond // of motion that the short lag does not resolve
	confirmFaint  = 750 * time.Millisecond // of motion with little contrast, such as a soft shadow's
	fewSeen       = 150 * time.Millisecond // between pictures, from which two of them are enough
	middling      = 4                      // times what is small: an insect close to the lens is no larger
)

// confirm decides whether a track is motion. It is when it is present and goes somewhere, when it
// leaps along a line, or when it is large and moves, as a thing and not as light, for some time.
func (k *Track) confirm(l *look, at, dt time.Duration, t *Tracker) {
	if !l.Goes && !(k.leapt() && !t.Scattered && !t.Flurries()) && !k.convinces(at, dt, t) {
		return
	}
	k.Confirmed, k.liveAt, k.Start = true, at, k.trail.begin(at, startBack, k.contrast)
	if l.Goes && l.Since.Before(k.Start) {
		k.Start = l.Since
	}
	if k.ID == 0 {
		t.lastID++
		k.ID = t.lastID
	}
	k.Start = t.entered(k, at)
}

// convinces tells whether something large moved for long enough, has substance, and goes somewhere.
// A step of the picture, such as a keyframe's other rendering of the same scene, is active in one
// picture, and strong for no longer than the long lag.
func (k *Track) convinces(at, dt time.Duration, t *Tracker) bool {
	goesOn := k.active >= ConfirmActive && (k.pictures >= 3 || k.pictures >= 2 && dt >= fewSeen) ||
		k.strong >= confirmStrong && k.pictures >= 1 || k.faint >= confirmFaint
	return goesOn && k.cells >= middling*float64(t.small) && k.solid() && (k.compact || !t.Scattered) &&
		(k.leaves() || !t.Young) && (k.Travelled() || k.loom >= loomsSure)
}
