package codec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/testclip"
	"vmsbridge/scripts/harness"
)

func pidOf(t testing.TB, d *Decoder) int {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	require.NotNil(t, d.group, "the decoder was not used yet")
	if proc := d.group.proc.Load(); proc != nil {
		return proc.pid()
	}
	return 0
}

func sameGroup(a, b *Decoder) bool {
	a.pool.mu.Lock()
	defer a.pool.mu.Unlock()
	return a.group == b.group
}

// gone says that no process has that number, not even a zombie.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// children are this process's decoder processes.
func children(t testing.TB) (pids []int) {
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// camera feeds a decoder for ever, as the agent would: at a loss it goes on from the keyframe.
type camera struct {
	d        *Decoder
	pictures atomic.Int64
	losses   atomic.Int64
	lostAt   atomic.Int64 // unix nanoseconds of the first loss
	backAt   atomic.Int64 // of the first picture after it
	failures atomic.Pointer[error]
}

func (c *camera) run(ctx context.Context, clip testclip.Clip) {
	for i := 0; ctx.Err() == nil; i = (i + 1) % len(clip.Units) {
		pictures, err := c.d.Decode(ctx, clip.Units[i], int64(i))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrLost):
			c.losses.Add(1)
			c.lostAt.CompareAndSwap(0, time.Now().UnixNano())
			i = -1
		case err != nil:
			c.failures.CompareAndSwap(nil, &err)
			return
		case len(pictures) > 0:
			if c.lostAt.Load() != 0 {
				c.backAt.CompareAndSwap(0, time.Now().UnixNano())
			}
			c.pictures.Add(int64(len(pictures)))
		}
	}
}

// site is cameras under load, two a process.
func site(t *testing.T, o Options, n int) (p *Pool, cameras []*camera) {
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 320, Height: 180, Frames: 20, Keyint: 10})
	p = newPool(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	for i := range n {
		c := &camera{d: p.Open(fmt.Sprint("camera", i), H264, 57_600)}
		_, err := c.d.Decode(t.Context(), clip.Units[0], 0) // in this order, so that the groups are known
		require.NoError(t, err)
		_, err = c.d.Flush(t.Context())
		require.NoError(t, err)
		cameras = append(cameras, c)
	}
	for _, c := range cameras {
		wg.Go(func() { c.run(ctx, clip) })
	}
	for _, c := range cameras {
		harness.Until(t, "pictures under way", func() bool { return c.pictures.Load() > 20 })
	}
	return p, cameras
}

// aMoment is what a replacement takes at most on a machine that is busy or emulated; on an idle one
// it takes milliseconds.
const aMoment = 10 * time.Second

// A decoder process that is killed, or that crashes, costs its cameras a moment, not the time after
// which one counts as hung, and the others nothing.
func TestKillUnderLoad(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		t.Run(signal.String(), func(t *testing.T) {
			p, cameras := site(t, Options{PerProcess: 2, CallTimeout: 3 * aMoment}, 4)
			require.True(t, sameGroup(cameras[0].d, cameras[1].d))
			require.False(t, sameGroup(cameras[0].d, cameras[2].d))
			victim, other := pidOf(t, cameras[0].d), pidOf(t, cameras[2].d)
			killed := time.Now()
			require.NoError(t, syscall.Kill(victim, signal))
			for _, c := range cameras[:2] {
				harness.Until(t, "the camera is back", func() bool { return c.backAt.Load() != 0 })
				took := time.Unix(0, c.backAt.Load()).Sub(killed)
				t.Logf("back after %v", took)
				require.Less(t, took, aMoment)
				require.EqualValues(t, 1, c.losses.Load(), "told once")
			}
			for _, c := range cameras[2:] {
				before := c.pictures.Load()
				harness.Until(t, "the others go on", func() bool { return c.pictures.Load() > before+20 })
				require.Zero(t, c.losses.Load())
			}
			for _, c := range cameras {
				require.Nil(t, c.failures.Load())
			}
			require.Equal(t, other, pidOf(t, cameras[2].d), "the other process was not touched")
			require.True(t, gone(victim))
			reason := map[syscall.Signal]string{syscall.SIGKILL: reasonKilled, syscall.SIGSEGV: reasonCrash}[signal]
			require.EqualValues(t, 1, testutil.ToFloat64(p.metrics.deaths.WithLabelValues(reason)))
			require.EqualValues(t, 3, testutil.ToFloat64(p.metrics.started))
			deaths := map[syscall.Signal]Deaths{syscall.SIGKILL: {Count: 1, Killed: 1}, syscall.SIGSEGV: {Count: 1}}
			require.Equal(t, deaths[signal], p.Deaths())
		})
	}
}

// A process that stands still is noticed by the deadline and replaced.
func TestHangUnderLoad(t *testing.T) {
	p, cameras := site(t, Options{PerProcess: 2, CallTimeout: time.Second}, 4)
	victim := pidOf(t, cameras[0].d)
	stopped := time.Now()
	require.NoError(t, syscall.Kill(victim, syscall.SIGSTOP))
	for _, c := range cameras[:2] {
		harness.Until(t, "the camera is back", func() bool { return c.backAt.Load() != 0 })
		require.Less(t, time.Unix(0, c.backAt.Load()).Sub(stopped), time.Second+aMoment)
	}
	for _, c := range cameras[2:] {
		require.Zero(t, c.losses.Load())
	}
	require.True(t, gone(victim))
	require.EqualValues(t, 1, testutil.ToFloat64(p.metrics.deaths.WithLabelValues(reasonHang)))
}

// What stood still has decoded nothing: the camera whose call it was keeps its place and all of its
// pictures. What counts is the processor's time, of an ended process too.
func TestAStoppedProcessIsNobodysCost(t *testing.T) {
	p := newPool(t, Options{CallTimeout: 2 * time.Second})
	d := p.Open("gate", MJPEG, 100)
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	_, err := d.Decode(t.Context(), clip.Units[0], 1)
	require.NoError(t, err)
	pid := pidOf(t, d)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	harness.Until(t, "it reads no more", func() bool { return hangs(t, pid) })
	_, err = d.Decode(t.Context(), clip.Units[0], 2)
	require.ErrorIs(t, err, ErrLost)
	l, ok := p.Load("gate")
	require.True(t, ok)
	require.Equal(t, Shared, l.Stage)

	busy := newPool(t, Options{CallTimeout: time.Minute}).Open("busy", MJPEG, 100)
	p = busy.pool
	_, err = busy.Decode(t.Context(), spentUnit, 1)
	require.ErrorIs(t, err, ErrLost)
	l, ok = p.Load("busy")
	require.True(t, ok)
	require.Equal(t, Alone, l.Stage, "what was decoded before the end counts")
}

// A camera whose stream breaks its process twice gets a process of its own; its neighbours are
// disturbed twice and never again, and its own process is not started over and over.
func TestBreakerEndsAlone(t *testing.T) {
	for name, poison := range map[string][]byte{"crash": crashUnit, "hang": hangUnit} {
		t.Run(name, func(t *testing.T) {
			p, cameras := site(t, Options{PerProcess: 4, CallTimeout: time.Second}, 2)
			breaker := p.Open("breaker", MJPEG, 100)
			second := p.Open("breaker", MJPEG, 100)
			good := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1}).Units[0]
			_, err := second.Decode(t.Context(), good, 1)
			require.NoError(t, err)
			require.True(t, sameGroup(second, cameras[0].d))
			for range 2 {
				_, err := breaker.Decode(t.Context(), poison, 1)
				require.ErrorIs(t, err, ErrLost)
			}
			require.True(t, sameGroup(breaker, second), "the camera's decoders stay together")
			require.False(t, sameGroup(breaker, cameras[0].d))
			require.EqualValues(t, 1, testutil.ToFloat64(p.metrics.alone))

			_, err = second.Decode(t.Context(), good, 1)
			require.ErrorIs(t, err, ErrLost, "its process was lost too")
			_, err = second.Decode(t.Context(), good, 1)
			require.NoError(t, err)
			require.NotEqual(t, pidOf(t, second), pidOf(t, cameras[0].d))

			for _, c := range cameras {
				before := c.pictures.Load()
				harness.Until(t, "the neighbours are back", func() bool { return c.pictures.Load() > before+20 })
				// One that had not come back from the first death when the second came is told
				// once.
				require.Contains(t, []int64{1, 2}, c.losses.Load())
			}
			losses := []int64{cameras[0].losses.Load(), cameras[1].losses.Load()}
			started := testutil.ToFloat64(p.metrics.started)
			pids := map[int]bool{pidOf(t, cameras[0].d): true, pidOf(t, cameras[1].d): true}
			for until := time.Now().Add(1500 * time.Millisecond); time.Now().Before(until); {
				_, err := breaker.Decode(t.Context(), poison, 1)
				require.ErrorIs(t, err, ErrLost)
			}
			require.LessOrEqual(t, testutil.ToFloat64(p.metrics.started)-started, 2.0, "starts in 1.5 s of breaking")
			for i, c := range cameras {
				require.Equal(t, losses[i], c.losses.Load(), "neighbours are not disturbed any more")
				require.True(t, pids[pidOf(t, c.d)])
			}
			// A pipeline that starts over does not wash it clean.
			breaker.Close()
			second.Close()
			again := p.Open("breaker", MJPEG, 100)
			_, _ = again.Decode(t.Context(), good, 1)
			require.False(t, sameGroup(again, cameras[0].d))
		})
	}
}

func TestPause(t *testing.T) {
	for deaths := range 100 {
		pause := newGroup(nil, true, deaths).pauses.Pause()
		require.LessOrEqual(t, pause, maxPause)
		switch {
		case deaths <= 2:
			require.Zero(t, pause)
		case deaths == 3:
			require.Equal(t, time.Second, pause)
		case deaths > 10:
			require.Equal(t, maxPause, pause)
		}
	}
}

// A process that dies while nothing is asked of it is noticed at once; each of its decoders is told
// at its next call, and stills of pictures that it held are gone.
func TestDeathInIdleness(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	p := newPool(t, Options{})
	a, b, idle := p.Open("a", MJPEG, 100), p.Open("b", MJPEG, 100), p.Open("c", MJPEG, 100)
	for _, d := range []*Decoder{a, b} {
		_, err := d.Decode(t.Context(), clip.Units[0], 1)
		require.NoError(t, err)
	}
	require.NoError(t, syscall.Kill(pidOf(t, a), syscall.SIGKILL))
	harness.Until(t, "the death is noticed", func() bool { return pidOf(t, a) == 0 })
	_, err := a.Still(t.Context(), 1, 0, 80)
	require.ErrorIs(t, err, ErrGone)
	require.NotErrorIs(t, err, ErrLost)
	_, err = idle.Decode(t.Context(), clip.Units[0], 1)
	require.NoError(t, err, "it had nothing to lose")
	_, err = a.Decode(t.Context(), clip.Units[0], 2)
	require.ErrorIs(t, err, ErrLost)
	_, err = a.Decode(t.Context(), clip.Units[0], 3)
	require.NoError(t, err)
	_, err = b.Flush(t.Context())
	require.ErrorIs(t, err, ErrLost)
	require.Empty(t, p.breaks, "nobody is to blame")
}

// asked says whether a request waits for the process of d, which has been stopped, to read it.
func asked(t testing.TB, d *Decoder) bool {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	conn, err := d.group.proc.Load().in.SyscallConn()
	require.NoError(t, err)
	var n int
	require.NoError(t, conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }))
	require.NoError(t, err)
	return n > 0
}

// hangs says whether a process was stopped by a signal, with all its threads.
func hangs(t testing.TB, pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	for _, thread := range threads {
		if stat, err := os.ReadFile(thread); err == nil && !strings.Contains(string(stat), ") T ") {
			return false
		}
	}
	return len(threads) > 0
}

// A caller that gives up leaves at once; what it asked for does not come back to the next call.
func TestContextEndsAWait(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 2})
	p := newPool(t, Options{CallTimeout: 10 * time.Minute})
	a, b := p.Open("a", MJPEG, 100), p.Open("b", MJPEG, 100)
	for _, d := range []*Decoder{a, b} {
		_, err := d.Decode(t.Context(), clip.Units[0], 1)
		require.NoError(t, err)
	}
	// givesUp is what a call of a answers that is given up once it is under way.
	givesUp := func(au []byte, pts int64, underway func() bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		result := make(chan error, 1)
		go func() {
			_, err := a.Decode(ctx, au, pts)
			result <- err
		}()
		harness.Until(t, "the call is under way", underway)
		cancel()
		return <-result
	}
	pid := pidOf(t, a)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	harness.Until(t, "it reads no more", func() bool { return hangs(t, pid) })
	require.ErrorIs(t, givesUp(clip.Units[1], 2, func() bool { return asked(t, a) }), context.Canceled)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	_, err := b.Decode(ctx, clip.Units[1], 2) // it waits for its turn
	cancel()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	pictures, err := a.Decode(t.Context(), clip.Units[0], 3)
	require.NoError(t, err)
	require.EqualValues(t, 3, pictures[0].PTS)
	_, err = a.Still(t.Context(), 2, 0, 80)
	require.NoError(t, err, "it was decoded all the same")
	pictures, err = b.Decode(t.Context(), clip.Units[0], 4)
	require.NoError(t, err)
	require.EqualValues(t, 4, pictures[0].PTS)

	// The one who gave up on a call that broke the process is told at its next call.
	require.ErrorIs(t, givesUp(hangUnit, 5, func() bool { return hangs(t, pid) }), context.Canceled)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	_, err = a.Decode(t.Context(), clip.Units[0], 6)
	require.ErrorIs(t, err, ErrLost)
}

// Close ends a process that hangs, without waiting for its deadline, and leaves none.
func TestCloseLeavesNoProcess(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	p := newPool(t, Options{PerProcess: 1, CallTimeout: 10 * time.Minute})
	var pids []int
	for i := range 3 {
		d := p.Open(fmt.Sprint(i), MJPEG, 100)
		_, err := d.Decode(t.Context(), clip.Units[0], 1)
		require.NoError(t, err)
		pids = append(pids, pidOf(t, d))
	}
	require.Subset(t, children(t), pids)
	hung := p.Open("0", MJPEG, 100)
	result := make(chan error)
	go func() {
		_, err := hung.Decode(context.Background(), hangUnit, 1)
		result <- err
	}()
	harness.Until(t, "it hangs", func() bool { return hangs(t, pids[0]) })
	start := time.Now()
	require.NoError(t, p.Close())
	require.Less(t, time.Since(start), 5*time.Minute)
	require.ErrorIs(t, <-result, ErrClosed)
	for _, pid := range pids {
		require.True(t, gone(pid))
	}
	require.Empty(t, children(t))
	require.Zero(t, testutil.ToFloat64(p.metrics.running))
	require.Zero(t, sum(p.metrics.deaths), "an end that was asked for is no death")
}

// The process of cameras that have all gone ends; those that share one with others only give back
// their decoder.
func TestProcessEndsWithItsLastCamera(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	p := newPool(t, Options{PerProcess: 2})
	var ds []*Decoder
	for i := range 2 {
		ds = append(ds, p.Open(fmt.Sprint(i), MJPEG, 100))
		_, err := ds[i].Decode(t.Context(), clip.Units[0], 1)
		require.NoError(t, err)
	}
	pid := pidOf(t, ds[0])
	ds[0].Close()
	_, err := ds[1].Decode(t.Context(), clip.Units[0], 2)
	require.NoError(t, err)
	require.Equal(t, pid, pidOf(t, ds[1]))
	third := p.Open("third", MJPEG, 100)
	_, err = third.Decode(t.Context(), clip.Units[0], 2)
	require.NoError(t, err)
	require.Equal(t, pid, pidOf(t, third), "the free place is taken")
	ds[1].Close()
	third.Close()
	harness.Until(t, "the process ends", func() bool { return gone(pid) })
}

// A decoder process inherits nothing that might be secret, and does not end by the signals that end
// the agent.
func TestChildIsSparse(t *testing.T) {
	t.Setenv("VMSBRIDGE_TOKEN", "very-secret")
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	p := newPool(t, Options{})
	d := p.Open("a", MJPEG, 100)
	_, err := d.Decode(t.Context(), clip.Units[0], 1)
	require.NoError(t, err)
	pid := pidOf(t, d)
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	require.NotContains(t, string(env), "very-secret")
	require.NotContains(t, "\x00"+string(env), "\x00PATH=")
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		require.NoError(t, syscall.Kill(pid, s))
	}
	_, err = d.Decode(t.Context(), clip.Units[0], 2)
	require.NoError(t, err)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	require.NoError(t, err)
	require.Regexp(t, `Max core file size +0 +0`, string(limits))
}

// A process that was taken over may answer anything: it is replaced.
func TestNonsenseIsReplaced(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	p := newPool(t, Options{})
	d := p.Open("a", MJPEG, 100)
	_, err := d.Decode(t.Context(), junkUnit, 1)
	require.ErrorIs(t, err, ErrLost)
	require.ErrorContains(t, err, "nonsense")
	require.EqualValues(t, 1, testutil.ToFloat64(p.metrics.deaths.WithLabelValues(reasonProtocol)))
	_, err = d.Decode(t.Context(), clip.Units[0], 2)
	require.NoError(t, err)
}

// Someone who sets the variable by hand gets an explanation, not a program that waits for ever.
func TestVariableSetByHand(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), environment+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, exitSetup, cmd.ProcessState.ExitCode())
	require.Contains(t, string(out), "unset it")
}

// In a decoder process a pool refuses to start more: a program without RunWorker would start itself
// for ever.
func TestNoProcessFromAProcess(t *testing.T) {
	t.Setenv(environment, "{}")
	p := newPool(t, Options{})
	d := p.Open("a", MJPEG, 100)
	_, err := d.Decode(t.Context(), []byte{1}, 1)
	require.ErrorContains(t, err, "RunWorker must be the first statement")
	require.ErrorIs(t, err, ErrLost)
	_, err = d.Decode(t.Context(), []byte{1}, 1)
	require.ErrorContains(t, err, "the next one starts in", "it does not spin")
	require.EqualValues(t, 1, testutil.ToFloat64(p.metrics.deaths.WithLabelValues(reasonStart)))
}

// orphanParent makes the test binary, started by TestNoOrphans, a parent that is about to be
// killed.
func orphanParent() {
	if os.Getenv("CODEC_TEST_PARENT") == "" {
		return
	}
	p := NewPool(Options{})
	d := p.Open("a", MJPEG, 100)
	_, _ = d.Decode(context.Background(), []byte("no JPEG"), 1)
	p.mu.Lock()
	fmt.Println(d.group.proc.Load().pid())
	p.mu.Unlock()
	_, _ = d.Decode(context.Background(), hangUnit, 2)
}

// When the agent is killed, its decoder processes end, even one that hangs.
func TestNoOrphans(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "CODEC_TEST_PARENT=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var pid int
	_, err = fmt.Fscan(out, &pid)
	require.NoError(t, err)
	require.False(t, gone(pid))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	harness.Until(t,

		"the decoder process %d ends", func() bool {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, pid)

}
