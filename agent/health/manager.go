package health

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// Manager is the service manager that $NOTIFY_SOCKET names. Safe for concurrent use.
type Manager struct{ log *slog.Logger }

// NewManager makes one. It opens nothing.
func NewManager(log *slog.Logger) *Manager { return &Manager{log: log} }

// Ready tells that the bridge works, or works with its new configuration.
func (m *Manager) Ready(status string) { m.send("READY=1", "STATUS="+oneLine(status)) }

// Reloading tells that the configuration is being read anew; Ready must follow, whatever becomes of
// it. The time is what Type=notify-reload asks for: the monotonic clock in microseconds.
func (m *Manager) Reloading() {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		m.send("RELOADING=1")
		return
	}
	m.send("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", ts.Nano()/1000))
}

// Stopping tells that the bridge ends.
func (m *Manager) Stopping() { m.send("STOPPING=1") }

// Alive feeds the watchdog.
func (m *Manager) Alive() { m.send("WATCHDOG=1") }

// WatchdogEvery is how long the manager waits for a sign of life at most ($WATCHDOG_USEC); zero:
// for ever.
func (m *Manager) WatchdogEvery() time.Duration {
	d, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		m.log.Warn("the watchdog's time cannot be read; it is not fed", "error", err)
		return 0
	}
	return d
}

func (m *Manager) send(lines ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		m.log.Warn("tell the service manager", "error", err)
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
