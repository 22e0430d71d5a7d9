package track

import "time"

// Times of the decision over several pictures.
const (
	ConfirmActive = 250 * time.Millisecond // of motion that goes on, picture after picture
	confirmStrong = 450 * time.Millisecond // of motion that the short lag does not resolve
	confirmFaint  = 750 * time.Millisecond // of motion with little contrast, such as a soft shadow's
	confirmSmall  = 700 * time.Millisecond // of motion of something small or middling
	// from picture to picture, from which twigs here and there are easily taken for one thing: what
	// is faint does not tell then
	fewSeen  = 150 * time.Millisecond
	middling = 4 // times what is small: an insect close to the lens is no larger
)

// confirm decides whether a track is motion. A step of the picture, such as a keyframe's other
// rendering of the same scene, is active in one picture, and strong for no longer than the long
// lag.
func (k *Track) confirm(at, dt time.Duration, t *Tracker) {
	pictures := 3
	moved := max(k.strong, k.faint)
	if dt >= fewSeen {
		pictures, moved = 2, k.strong
	}
	slowly, leapt := false, k.leapt() && !t.Scattered && !t.Flurries()
	switch {
	case leapt:
	case k.active >= ConfirmActive && k.pictures >= pictures:
	case k.strong >= confirmStrong && k.pictures >= 1:
	case k.faint >= confirmFaint:
	case k.creeping && t.Young && k.cells < float64(t.small):
		return
	case k.creeping:
		slowly = true
	default:
		return
	}
	if !k.creeping && !leapt && !k.convinces(moved, at, t) {
		return
	}
	switch {
	case slowly:
		k.begins(k.first, at, t)
	case k.creeping && !leapt:
		k.begins(k.trail.begin(at, t.back(at, lookBack), k.contrast), at, t)
	default:
		k.begins(k.trail.begin(at, t.back(at, startBack), k.contrast), at, t)
	}
}

// begins makes the track motion, which began at the time start.
func (k *Track) begins(start time.Time, at time.Duration, t *Tracker) {
	k.Confirmed, k.liveAt, k.Start, k.Dated = true, at, start, false
	if k.ID == 0 {
		if t.lastID == nil {
			t.lastID = new(int)
		}
		*t.lastID++
		k.ID = *t.lastID
	}
	t.entered(k, at)
}

// convinces tells whether what moved for long enough is somebody or something: it must have
// substance, and go somewhere as a thing of its size does. Moved is for how long it did.
func (k *Track) convinces(moved, at time.Duration, t *Tracker) bool {
	small, middle := k.cells < float64(t.small), k.cells < middling*float64(t.small)
	wanders := k.wanders(t)
	switch {
	case !k.solid():
		return false
	case t.Young && !k.leaves(t.small) && !wanders:
		return false
	case !k.Travelled() && !wanders && k.loom < loomsSure:
		return false
	case small && (k.strong < confirmSmall || !k.walks()):
		return false
	case middle && (moved < confirmSmall || k.hurries(at) || k.flaps() && !wanders):
		return false
	}
	return true
}
