package main

import (
	"encoding/json"
	"image/jpeg"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vmsbridge/scripts/harness"

	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	secret := `p@ss/w#rd "1"`
	urls, _ := harness.Camera(t, "--codec", "mjpeg", "--size", "320x184", "--fps", "10", "--user", "viewer",
		"--password", secret, "--auth", "digest")
	file := filepath.Join(t.TempDir(), "still.jpg")

	// The password by file, by environment and by typing; never by the command line.
	r := do(t, "probe", urls[0], "--user", "viewer", "--password-file", write(t, "pw", secret+"\n"), "-o", file)
	require.Zero(t, r.code, r.err)
	for _, want := range []string{"MJPEG 320x184, 10.", "tcp, sign-in: digest", "still      " + file + ", 320x184"} {
		require.Contains(t, r.out, want)
	}
	require.Regexp(t, `access unit after \d+\.\d`, r.out)
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	img, err := jpeg.Decode(f)
	require.NoError(t, err)
	require.Equal(t, 320, img.Bounds().Dx())

	t.Setenv("VMSBRIDGE_CAMERA_PASSWORD", secret)
	r = do(t, "probe", urls[0], "--user", "viewer", "--transport", "udp", "--json", "-o", "")
	require.Zero(t, r.code, r.err)
	var p probed
	require.NoError(t, json.Unmarshal([]byte(r.out), &p))
	require.Equal(t, "udp", p.Transport)
	require.InDelta(t, 10, p.Rate, 2)
	require.Nil(t, p.Still)
	require.NoError(t, os.Unsetenv("VMSBRIDGE_CAMERA_PASSWORD"))

	r = doWith(t, t.Context(), "wrong\n", "probe", urls[0], "--user", "viewer", "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.out, "state      invalidCredentials")
	require.Contains(t, r.err, "Password of viewer: ")
	r = doWith(t, t.Context(), "", "probe", urls[0], "--user", "viewer", "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "--password-file")

	// A camera of the configuration; its still on standard output, the report beside it.
	yaml := write(t, "b.yaml",
		"cameras: [{id: gate, url: \""+urls[0]+"\", username: viewer, password: '"+secret+"'}]\n")
	r = do(t, "probe", "--config", yaml, "--camera", "gate", "-o", "-")
	require.Zero(t, r.code, r.err)
	require.True(t, strings.HasPrefix(r.out, "\xff\xd8"))
	require.Contains(t, r.err, "MJPEG")
	r = do(t, "probe", "--config", yaml, "--camera", "attic")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, `no camera "attic": there is gate`)
}

// An address alone is enough: the usual paths are tried, and what was found is said.
func TestProbeByAddress(t *testing.T) {
	urls, _ := harness.Camera(t, "--codec", "mjpeg", "--size", "320x184", "--fps", "10", "--user", "viewer",
		"--password", "secret", "--auth", "digest", "--path", "/stream1")
	u, err := url.Parse(urls[0])
	require.NoError(t, err)
	secret := write(t, "pw", "secret\n")
	r := do(t, "probe", u.Host, "--user", "viewer", "--password-file", secret, "-o", "")
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.err, "does not answer ONVIF")
	require.Contains(t, r.err, "found rtsp://"+u.Host+"/stream1 (TP-Link Tapo and others)")
	require.Contains(t, r.out, "MJPEG 320x184")

	r = do(t, "probe", u.Host, "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "--user")

	ports, err := freePorts(1)
	require.NoError(t, err)
	r = do(t, "probe", ports[0], "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "is the port right?")
}

func TestProbeNobodyThere(t *testing.T) {
	ports, err := freePorts(1)
	require.NoError(t, err)
	r := do(t, "probe", "rtsp://"+ports[0]+"/cam", "--timeout", "5s", "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.out, "state      unreachable")
	require.Contains(t, r.err, ports[0])
}
