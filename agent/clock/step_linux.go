package clock

import (
	"context"
	"errors"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Steps tells of each step of the wall clock until ctx is done: the kernel says it
// (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET), so that nobody has to look all the time. nil if
// this kernel does not.
func (m *machine) Steps(ctx context.Context) <-chan struct{} {
	const never = math.MaxInt // seconds after 1970
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	timer := os.NewFile(uintptr(fd), "timer")
	spec := unix.ItimerSpec{Value: unix.Timespec{Sec: never}}
	if unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &spec, nil) != nil ||
		timer.SetReadDeadline(time.Time{}) != nil { // waiting must end when it is closed
		_ = timer.Close()
		return nil
	}
	stepped := make(chan struct{}, 1)
	stop := context.AfterFunc(ctx, func() { _ = timer.Close() })
	go func() { // ends with ctx
		defer stop()
		for {
			if _, err := timer.Read(make([]byte, 8)); !errors.Is(err, unix.ECANCELED) {
				return
			}
			select {
			case stepped <- struct{}{}:
			default:
			}
		}
	}()
	return stepped
}
