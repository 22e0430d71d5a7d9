package control

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be another user's program.
func TestMain(m *testing.M) {
	if data := os.Getenv("CONTROL_TEST_DATA"); data != "" {
		if _, err := Client(data).Get(URL + "/status"); err != nil {
			_, _ = os.Stdout.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve(t *testing.T, data string) (stop func()) {
	t.Helper()
	l, err := Listen(data)
	require.NoError(t, err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "ok "+r.URL.Path)
	})}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	return func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	}
}

func TestTheOwnerIsAnswered(t *testing.T) {
	data := filepath.Join(t.TempDir(), strings.Repeat("long/", 60)) // longer than a socket's address may be
	require.NoError(t, os.MkdirAll(data, 0o755))
	client := Client(data)
	_, err := client.Get(URL + "/status")
	require.ErrorIs(t, err, ErrNotRunning)
	stop := serve(t, data)
	res, err := client.Get(URL + "/status")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "ok /status", string(body))
	stop()
	_, err = client.Get(URL + "/status")
	require.ErrorIs(t, err, ErrNotRunning)
	left, err := os.ReadDir(data)
	require.NoError(t, err)
	require.Empty(t, left, "nothing is left behind")

	// What a bridge that was killed left behind is replaced.
	require.NoError(t, os.WriteFile(filepath.Join(data, Socket), nil, 0o600))
	stop = serve(t, data)
	res, err = client.Get(URL + "/status")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	stop()
	_, err = Client(filepath.Join(data, "none")).Get(URL + "/status")
	require.ErrorIs(t, err, ErrNotRunning)
}

// Nobody else may ask, also where the folder itself is open to all.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	base, err := os.MkdirTemp("/tmp", "control-test-") // where another user may go
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	data := filepath.Join(base, "data")
	require.NoError(t, os.Mkdir(data, 0o755))
	require.NoError(t, os.Chmod(base, 0o755))
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(self)
	require.NoError(t, err)
	copied := filepath.Join(base, "asker")
	require.NoError(t, os.WriteFile(copied, program, 0o755))
	defer serve(t, data)()
	ask := func(uid uint32) (string, error) {
		cmd := exec.Command(copied)
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), "CONTROL_TEST_DATA="+data)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.Output()
		return string(out), err
	}
	_, err = ask(0)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("root of this user namespace has no other user ids; run this as root outside of it, or with ids in " +
			"/etc/subuid")
	}
	require.NoError(t, err)
	said, err := ask(65534)
	require.Error(t, err)
	require.Contains(t, said, "permission denied")
	info, err := os.Stat(filepath.Join(data, Socket))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}
