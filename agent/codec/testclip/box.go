package testclip

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Box makes a clip in which a red box of 60x80 crosses still bars of 320x240, from 4 s to 6.375 s,
// in a folder of the test's own, at 25 pictures a second, 12 s long, coded by the arguments; %06d
// in the name makes images, and .mkv a rate that varies.
func Box(t testing.TB, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed: apt install ffmpeg")
	}
	path := filepath.Join(t.TempDir(), name)
	thinned := ""
	if filepath.Ext(name) == ".mkv" { // half of the pictures of the first five seconds
		thinned, args = ",select='not(mod(n,2))+gt(n,124)'", append(args, "-vsync", "passthrough")
	}
	if slices.Contains(args, "libx264") {
		args = append(args, "-preset", "ultrafast", "-pix_fmt", "yuv420p")
	}
	all := slices.Concat([]string{"-v", "error", "-nostdin", "-f", "lavfi", "-i", "smptebars=s=320x240:r=25:d=12", "-f",
		"lavfi", "-i", "color=c=red:s=60x80:r=25:d=12",
		"-filter_complex", "[0][1]overlay=x='if(between(t,4,6.4),-60+(t-4)*160,-100)':y=100" + thinned + "[out]",
		"-map", "[out]"}, args, []string{path})
	out, err := exec.Command("ffmpeg", all...).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}
