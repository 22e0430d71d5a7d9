package api

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

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
	i := images{ring, func() *configs.Config { return cfg }}
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
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = recorded(gone, 0, 5)
	require.ErrorIs(t, err, context.Canceled)
}
