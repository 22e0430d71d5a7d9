package movie

import (
	"bytes"
	"context"
	"image/jpeg"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/lab/scene"
)

func needFFmpeg(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed, drawn H.264 and H.265 are not tested: apt install ffmpeg (scripts/deps does)")
	}
}

func smallScene(t *testing.T) *scene.Scene {
	s, err := scene.New("person", scene.Options{Width: 128, Height: 96, Rate: 5, Seed: 1})
	require.NoError(t, err)
	return s
}

func TestFromScene(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		sets []byte
	}{
		{Options{Codec: H264, GOP: 10}, []byte{7, 8}},
		{Options{Codec: H264, GOP: 10, BFrames: 2}, []byte{7, 8}},
		{Options{Codec: H265, GOP: 10}, []byte{32, 33, 34}},
		{Options{Codec: H265, GOP: 10, BFrames: 2}, []byte{32, 33, 34}},
		{Options{Codec: MJPEG}, nil},
	} {
		t.Run(tc.o.Codec+map[bool]string{true: " with B-frames"}[tc.o.BFrames > 0], func(t *testing.T) {
			t.Parallel()
			if tc.o.Codec != MJPEG {
				needFFmpeg(t)
			}
			m, err := FromScene(t.Context(), smallScene(t), tc.o)
			require.NoError(t, err)
			require.Len(t, m.Units, 150)
			require.Equal(t, 30*time.Second, m.Loop())
			require.Equal(t, []int{128, 96, 5}, []int{m.Width, m.Height, m.Rate})
			for _, set := range m.ParameterSets(tc.sets...) {
				require.NotNil(t, set)
			}
			var shown []int
			for i, u := range m.Units {
				shown = append(shown, u.Shown)
				require.Equal(t, tc.o.Codec == MJPEG || u.Shown%10 == 0, u.Key, "picture %d", i)
				require.NotEmpty(t, u.NALs)
			}
			require.Equal(t, tc.o.BFrames == 0, slices.IsSorted(shown))
			slices.Sort(shown)
			require.Len(t, slices.Compact(shown), 150)
			if tc.o.Codec == MJPEG {
				img, err := jpeg.Decode(bytes.NewReader(m.Units[7].NALs[0]))
				require.NoError(t, err)
				require.Equal(t, 128, img.Bounds().Dx())
			}
		})
	}
}

func TestFromClip(t *testing.T) {
	needFFmpeg(t)
	clip := filepath.Join(t.TempDir(), "clip.mp4")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v",
		"50", "-c:v", "libx264", clip).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, codec := range []string{H264, H265, MJPEG} {
		m, err := FromClip(t.Context(), clip, Options{Codec: codec, GOP: 25})
		require.NoError(t, err)
		require.Equal(t, []int{320, 240, 25, 50}, []int{m.Width, m.Height, m.Rate, len(m.Units)})
		m, err = FromClip(t.Context(), clip, Options{Codec: codec, Width: 160, Height: 120, Rate: 5})
		require.NoError(t, err)
		require.Equal(t, []int{160, 120, 5, 10}, []int{m.Width, m.Height, m.Rate, len(m.Units)})
	}
	_, err = FromClip(t.Context(), filepath.Join(t.TempDir(), "none.mp4"), Options{Codec: H264})
	require.ErrorContains(t, err, "No such file")
}

// A bit rate that is asked for is kept roughly, in both directions.
func TestBitrate(t *testing.T) {
	needFFmpeg(t)
	for _, kbit := range []int{50, 300} {
		m, err := FromScene(t.Context(), smallScene(t), Options{Codec: H264, Bitrate: kbit})
		require.NoError(t, err)
		bytes := 0
		for _, u := range m.Units {
			for _, n := range u.NALs {
				bytes += len(n)
			}
		}
		require.InEpsilon(t, kbit, float64(bytes)*8/1000/m.Loop().Seconds(), 0.4)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{Codec: "av1"}, "must be h264, h265 or mjpeg"},
		{Options{Codec: H264, BFrames: 9}, "B-frames 0 to 3"},
		{Options{Codec: MJPEG, BFrames: 1}, "no B-frames in MJPEG"},
		{Options{Codec: H264, FFmpeg: "no-such-ffmpeg"}, "apt-get install ffmpeg"},
	} {
		_, err := FromScene(t.Context(), smallScene(t), tc.o)
		require.ErrorContains(t, err, tc.want)
	}
	var missing *MissingError
	_, err := FromScene(t.Context(), smallScene(t), Options{Codec: H264, FFmpeg: "no-such-ffmpeg"})
	require.ErrorAs(t, err, &missing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = FromScene(ctx, smallScene(t), Options{Codec: MJPEG})
	require.ErrorIs(t, err, context.Canceled)
}
