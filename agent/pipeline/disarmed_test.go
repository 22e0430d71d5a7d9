package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// Somebody walks through the film from 4 s to 12 s, through an area that is the whole picture. The
// camera is disarmed from 6 s to 8 s: what is open ends there, nothing begins, stills go on, and
// when it is armed again, who still walks is an event that begins then.
func TestDisarmedCameraMakesNoEvents(t *testing.T) {
	b := newBench(t, withLines)
	begun := 0
	for i, u := range film(t, camera.MJPEG, 0) {
		b.disarmed.Store(i >= 60 && i < 80)
		b.unit(t.Context(), u)
		switch {
		case i == 59:
			require.NotEmpty(t, b.spans, "the scene moves")
		case i == 60:
			require.Empty(t, b.spans)
			for _, ev := range b.events(t) {
				if ev.Type != vms.TypeDeviceStatus {
					require.NotNil(t, ev.EndTimestamp, "%s goes on", ev.ID)
					require.False(t, ev.EndTimestamp.After(at(6_000)), "%s", ev.ID)
				}
			}
			begun = len(b.diary.events)
		case i > 60 && i < 80:
			require.Len(t, b.diary.events, begun, "something was told of a disarmed camera at %v", u.Time)
			require.Empty(t, b.spans)
		}
	}
	b.close()
	motion := ofType(b.events(t), vms.TypeMotion)
	require.GreaterOrEqual(t, len(motion), 2)
	require.WithinRange(t, motion[1].StartTimestamp.Time, at(8_000), at(9_500))
	require.NotEmpty(t, ofType(b.events(t), vms.TypeIntrusion)[1:], "who is in the area is not seen again")
	still, err := b.ring.Find("c", stills.Preview, stills.Before, at(7_900))
	require.NoError(t, err)
	require.WithinRange(t, still.Time, at(7_300), at(7_900), "stills stand while the camera is disarmed")
}

// A view that is covered is told of a disarmed camera, too.
func TestDisarmedCameraTellsOfTampering(t *testing.T) {
	b := newBench(t, nil)
	b.disarmed.Store(true)
	units, _ := spoilt(t, "covered", 2)
	for _, u := range units {
		b.unit(t.Context(), u)
	}
	b.close()
	require.Len(t, ofType(b.events(t), vms.TypeTamper), 1)
	require.Empty(t, ofType(b.events(t), vms.TypeMotion))
}
