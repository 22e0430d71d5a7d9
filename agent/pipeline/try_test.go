package pipeline

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/configs"
)

// Other settings are tried beside the camera's: a line that it has not is crossed in the trial
// alone, and behind a mask of all nothing is found while the camera's own finds its motion.
func TestTry(t *testing.T) {
	plain := newBench(t, nil)
	for _, u := range film(t, camera.MJPEG, 0) {
		plain.unit(t.Context(), u)
	}
	plain.close()
	all := configs.Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	var drawn, hidden configs.Config
	drawn.Cameras, hidden.Cameras = make([]configs.Camera, 1), make([]configs.Camera, 1)
	withLines(&drawn)
	hidden.Cameras[0].Motion.Masks = []configs.Polygon{all}
	for name, c := range map[string]struct {
		settings configs.CameraMotion
		want     map[Found]bool
	}{"drawn": {drawn.Cameras[0].Motion, map[Found]bool{{}: true, {"lines", "door"}: true, {"areas", "yard"}: true}},
		"hidden": {hidden.Cameras[0].Motion, map[Found]bool{}}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			told, ended := make(chan Look), make(chan error, 1)
			go func() {
				ended <- b.Try(ctx, c.settings, func(l Look) error {
					select {
					case told <- l:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			}()
			require.True(t, (<-told).Waits, "no picture has come yet")
			found, boxes := map[Found]bool{}, 0
			for _, u := range film(t, camera.MJPEG, 0) {
				before := b.pace.Last()
				b.unit(t.Context(), u)
				if b.pace.Last().Equal(before) {
					continue // it was not looked at
				}
				l := <-told
				for l.Waits {
					l = <-told
				}
				boxes += len(l.Boxes)
				for _, f := range l.Found {
					found[f] = true
				}
			}
			require.Equal(t, c.want, found)
			require.Equal(t, len(c.want) > 0, boxes > 0)
			b.close()
			require.NoError(t, <-ended, "the pipeline ends, and the trial with it")
			require.NoError(t, b.Try(ctx, c.settings, func(Look) error { return nil }), "it has ended")
			require.Equal(t, len(plain.events(t)), len(b.events(t)), "the camera's own events are as ever")
		})
	}
}

// What cannot be is refused before anything is looked at.
func TestTryRefuses(t *testing.T) {
	b := newBench(t, nil)
	defer b.close()
	for name, m := range map[string]configs.CameraMotion{
		"a mask": {Masks: []configs.Polygon{{{0, 0}, {1, 1}, {1, 0}, {0, 1}}}},
		"a line": {Lines: []configs.Line{{ID: "a", Points: configs.Polyline{{0, 0}}}}},
	} {
		require.ErrorIs(t, b.Try(t.Context(), m, func(Look) error { return io.EOF }), ErrSettings, name)
	}
	require.False(t, b.looks.any())
}
