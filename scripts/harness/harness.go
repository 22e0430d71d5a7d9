// Package harness is for tests only: it waits for what comes sooner or later, finds free ports, and
// builds the programs that tests start. It knows no other package of the project, so that every
// test may use it.
//
//	harness.Until(t, "the camera to connect", func() bool {
//		return cam.State() == camera.Connected })
//	address := harness.Address(t)
//	bin := harness.Build(t.TempDir(), false, "vmsbridge", "camsim")
package harness

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Patience is how long Until waits: long, for a machine that is busy or emulated.
const Patience = 2 * time.Minute

// Until polls a condition on the caller's goroutine, and fails the test if it does not hold within
// Patience. What may have the verbs of fmt.Sprintf, for args.
func Until(t testing.TB, what string, cond func() bool, args ...any) {
	t.Helper()
	if len(args) > 0 {
		what = fmt.Sprintf(what, args...)
	}
	Within(t, Patience, what, cond)
}

// Within is Until with a time of its own.
func Within(t testing.TB, patience time.Duration, what string, cond func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for pause := time.Millisecond; !cond(); pause = min(2*pause, 2*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", patience, strings.TrimSpace(what))
		}
		time.Sleep(pause)
	}
}

// Address is one of the loopback that was free a moment ago, such as 127.0.0.1:40123.
func Address(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Port is the port of a free Address.
func Port(t testing.TB) int {
	t.Helper()
	_, text, _ := net.SplitHostPort(Address(t))
	port := 0
	if _, err := fmt.Sscan(text, &port); err != nil {
		t.Fatalf("read the free port %q: %v", text, err)
	}
	return port
}

// AsNobody calls f as a user to whom no file belongs, so far as f stays in its goroutine.
func AsNobody(t *testing.T, f func()) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Setfsuid(nobody)
	defer func() { _ = unix.Setfsuid(0) }()
	f()
}
