package api

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// Before an image of a moment that may wait undecoded is looked for, it is asked for; the newest
// still before a moment may be of that very moment where it says so.
func TestImagesAskForWhatIsHeld(t *testing.T) {
	ring, err := stills.Open(t.TempDir(), stills.Options{MaxBytes: 16 << 20, SegmentBytes: 1 << 20})
	require.NoError(t, err)
	defer func() { require.NoError(t, ring.Close()) }()
	now := time.Now().Truncate(time.Millisecond)
	var asked []time.Time
	i := images{ring, nil, nil, func(_ context.Context, camera string, t time.Time) {
		asked = append(asked, t)
		if camera == "gate" && len(asked) == 1 {
			_ = ring.Append(stills.Still{Camera: camera, Kind: stills.Preview, Time: now, JPEG: []byte{0xff, 0xd8}})
		}
	}}
	for _, c := range []struct {
		op    string
		at    time.Time
		found bool
	}{
		{vms.OpAtOrBefore, now, true}, {vms.OpBefore, now, false}, {vms.OpAtOrAfter, now, true},
		{vms.OpBefore, now.Add(-time.Hour), false},
	} {
		img, err := i.Image(t.Context(), server.ImageQuery{Camera: "gate", Kind: vms.ImagePreview, Op: c.op,
			Time: c.at})
		require.Equal(t, c.found, err == nil, "%s: %v", c.op, err)
		if c.found {
			require.WithinDuration(t, now, img.Time, 0)
		}
	}
	require.Equal(t, []time.Time{now.Add(time.Millisecond), now}, asked, "nothing is held for an hour, nor asked after")
}

// Stills that follow each other closely are one interval; no more are looked for than are wanted,
// and what is listed of them is whole.
func TestRecordedIntervals(t *testing.T) {
	ring, err := stills.Open(t.TempDir(), stills.Options{MaxBytes: 16 << 20, SegmentBytes: 1 << 20})
	require.NoError(t, err)
	defer func() { require.NoError(t, ring.Close()) }()
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for _, second := range []int{0, 2, 4, 60, 62, 120, 180} {
		require.NoError(t,
			ring.Append(stills.Still{Camera: "gate", Kind: stills.Preview, Time: at(second), JPEG: []byte{0xff, 0xd8}}))
	}
	cfg := &configs.Config{}
	cfg.Stills.PreviewInterval = 2 * time.Second
	var states []health.Camera
	i := images{ring, func() *configs.Config { return cfg }, func() []health.Camera { return states },
		func(context.Context, string, time.Time) {}}
	recorded := func(ctx context.Context, from, most int) ([]server.Interval, error) {
		list, _, err := i.Recorded(ctx, "", "gate", vms.ImagePreview, at(from), at(1000), most)
		return list, err
	}
	all := []server.Interval{{Start: at(0), End: at(4)}, {Start: at(60), End: at(62)}, {Start: at(120), End: at(120)},
		{Start: at(180), End: at(180)}}
	for most := 1; most <= 5; most++ {
		list, err := recorded(t.Context(), 0, most)
		require.NoError(t, err)
		require.Equal(t, all[:min(most, 4)], list)
	}
	list, err := recorded(t.Context(), 62, 2)
	require.NoError(t, err)
	require.Equal(t, []server.Interval{{Start: at(62), End: at(62)}, all[2]}, list)

	// A camera that is away has one gap that lasts, with the reason: since its newest still, or all
	// the time that is looked at if there never was one.
	states = []health.Camera{{ID: "gate", Reason: "no answer"}, {ID: "new", Reason: "wrong password"},
		{ID: "there", Online: true}}
	for camera, want := range map[string][]server.Gap{"gate": {{Start: at(180), Reason: "no answer"}},
		"new": {{Start: at(5), Reason: "wrong password"}}, "there": nil} {
		_, gaps, err := i.Recorded(t.Context(), "", camera, vms.ImagePreview, at(5), at(1000), 5)
		require.NoError(t, err)
		require.Equal(t, want, gaps, camera)
	}
	_, gaps, err := i.Recorded(t.Context(), "", "gate", vms.ImagePreview, at(0), at(100), 5)
	require.NoError(t, err)
	require.Empty(t, gaps, "it was not away yet")

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = recorded(gone, 0, 5)
	require.ErrorIs(t, err, context.Canceled)
}
