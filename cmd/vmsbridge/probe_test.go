package main

import (
	"bufio"
	"encoding/json"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// camsim starts a camera and returns its address.
func camsim(t *testing.T, bin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "camsim"), append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address, ok := strings.CutPrefix(line, "camsim ready: ")
	require.True(t, ok, line)
	return strings.Fields(address)[0]
}

func TestProbe(t *testing.T) {
	bin := built(t)
	secret := `p@ss/w#rd "1"`
	address := camsim(t, bin, "--codec", "mjpeg", "--size", "320x184", "--fps", "10", "--user", "viewer", "--password", secret, "--auth", "digest")
	file := filepath.Join(t.TempDir(), "still.jpg")

	// The password by file, by environment and by typing; never by the command line.
	r := do(t, "probe", address, "--user", "viewer", "--password-file", write(t, "pw", secret+"\n"), "-o", file)
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
	r = do(t, "probe", address, "--user", "viewer", "--transport", "udp", "--json", "-o", "")
	require.Zero(t, r.code, r.err)
	var p probed
	require.NoError(t, json.Unmarshal([]byte(r.out), &p))
	require.Equal(t, "udp", p.Transport)
	require.InDelta(t, 10, p.Rate, 2)
	require.Nil(t, p.Still)
	require.NoError(t, os.Unsetenv("VMSBRIDGE_CAMERA_PASSWORD"))

	r = doWith(t, t.Context(), "wrong\n", "probe", address, "--user", "viewer", "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.out, "state      invalidCredentials")
	require.Contains(t, r.err, "Password of viewer: ")
	r = doWith(t, t.Context(), "", "probe", address, "--user", "viewer", "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "--password-file")

	// A camera of the configuration; its still on standard output, the report beside it.
	yaml := write(t, "b.yaml", "cameras: [{id: gate, url: \""+address+"\", username: viewer, password: '"+secret+"'}]\n")
	r = do(t, "probe", "--config", yaml, "--camera", "gate", "-o", "-")
	require.Zero(t, r.code, r.err)
	require.True(t, strings.HasPrefix(r.out, "\xff\xd8"))
	require.Contains(t, r.err, "MJPEG")
	r = do(t, "probe", "--config", yaml, "--camera", "attic")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, `no camera "attic"`)
}

func TestProbeNobodyThere(t *testing.T) {
	ports, err := freePorts(1)
	require.NoError(t, err)
	r := do(t, "probe", "rtsp://"+ports[0]+"/cam", "--timeout", "5s", "-o", "")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.out, "state      unreachable")
	require.Contains(t, r.err, ports[0])
}
