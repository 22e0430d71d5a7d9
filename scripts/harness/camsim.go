package harness

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

var camsim = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(root(), ".cache", "lab")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// Tests of several packages run side by side. Those that come later find it up to date, and go
	// build leaves it alone.
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	return filepath.Join(dir, "camsim"), Build(dir, false, "camsim")
})

// Camsim is the path of the simulated camera. It is built once, and shared by the packages that use
// it.
func Camsim(t testing.TB) string {
	t.Helper()
	path, err := camsim()
	if err != nil {
		t.Fatalf("make the simulated camera: %v", err)
	}
	return path
}

// Camera starts a simulated camera at a free port, and returns the addresses of its streams in the
// order of --path. It ends with stop, which may be called twice, at the latest with the test.
func Camera(t testing.TB, args ...string) (urls []string, stop func()) {
	t.Helper()
	cmd := exec.Command(Camsim(t), append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("start the simulated camera: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the simulated camera: %v", err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	list, ready := strings.CutPrefix(line, "camsim ready: ")
	if err != nil || !ready {
		stop()
		t.Fatalf("start the simulated camera: it says %q, %s", line, said.String())
	}
	list, _, _ = strings.Cut(list, ", ")
	for part := range strings.SplitSeq(list, " and ") {
		url, _, _ := strings.Cut(part, " ")
		urls = append(urls, url)
	}
	return urls, stop
}
