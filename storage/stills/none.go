package stills

import (
	"fmt"
	"time"
)

// Reason is why there is no still.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	// ReasonDamaged: there was one, but it cannot be read any more.
	ReasonDamaged Reason = "damaged"
	// ReasonOffline: the camera gave no pictures at that time; see Gap.
	ReasonOffline Reason = "camera was offline"
	// ReasonNever: nothing of that camera and kind was ever recorded.
	ReasonNever Reason = "never recorded"
	// ReasonPruned: the time is before the oldest still that is kept, and older ones were dropped.
	ReasonPruned Reason = "pruned"
	// ReasonNothing: stills exist, but none in the direction asked for.
	ReasonNothing Reason = "nothing there"
)

// NoneError is Find's answer when there is no such still. Its text is fit for a user.
type NoneError struct {
	Reason  Reason
	Camera  string
	Kind    Kind
	Op      Op
	Time    time.Time
	Oldest  time.Time // of the stills that are kept; zero if none is
	Newest  time.Time
	Gap     *Gap  // with ReasonOffline
	Damaged error // with ReasonDamaged: what reading it gave
}

const userTime = "2006-01-02T15:04:05.000+00:00"

func (e *NoneError) Error() string {
	s := fmt.Sprintf("no %s image of camera %q %s %s: ", e.Kind, e.Camera, e.Op, e.Time.UTC().Format(userTime))
	switch e.Reason {
	case ReasonDamaged:
		return s + "it can no longer be read: " + e.Damaged.Error()
	case ReasonOffline:
		end := "until now"
		if !e.Gap.To.IsZero() {
			end = "to " + e.Gap.To.Format(userTime)
		}
		return s + fmt.Sprintf("the camera gave no pictures from %s %s: %s", e.Gap.From.Format(userTime), end,
			e.Gap.Reason)
	case ReasonNever:
		return fmt.Sprintf("no %s image of camera %q was ever recorded", e.Kind, e.Camera)
	case ReasonPruned:
		if e.Oldest.IsZero() {
			return s + "all were dropped, to make room or for their age"
		}
		return s + "it was dropped, to make room or for its age; the oldest kept is of " + e.Oldest.Format(userTime)
	}
	return s + fmt.Sprintf("the stills kept are of %s to %s", e.Oldest.Format(userTime), e.Newest.Format(userTime))
}
