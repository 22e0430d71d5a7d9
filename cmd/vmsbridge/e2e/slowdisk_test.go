package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/vfs/witness"
	"vmsbridge/uplink/vms"
)

// watched is in the environment of this test's program when it is to become another one whose
// system calls are asked for: those that change files, to hold them up, or all that witness looks
// at.
const (
	watched   = "VMSBRIDGE_TEST_WATCHED"
	toHoldUp  = "hold up"
	toWitness = "witness"
)

// The delays of disks that refuse every change, with the error that is so many below zero.
const (
	broken   = -int64(unix.EIO)
	readOnly = -int64(unix.EROFS)
)

// startSlow is start of a program each of whose fsyncs takes that much longer than the disk does,
// which may change at any time: the kernel asks the test before each (seccomp_unotify(2)), which
// needs no file system of its own and no privileges.
func startSlow(t *testing.T, delay *atomic.Int64, name string, args ...string) *program {
	t.Helper()
	p, listener := startWatched(t, toHoldUp, name, args...)
	go holdUp(listener, delay)
	return p
}

// startWatched is start of a program that waits at system calls for an answer from the listener.
func startWatched(t *testing.T, how, name string, args ...string) (p *program, listener int) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	theirs := os.NewFile(uintptr(pair[1]), "listener")
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{filepath.Join(programs(t), name)}, args...)...)
	cmd.Env = append(os.Environ(), watched+"="+how)
	cmd.ExtraFiles = []*os.File{theirs}
	p = startCommand(t, cmd)
	p.name = name
	require.NoError(t, theirs.Close())
	message := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), message, unix.MSG_CMSG_CLOEXEC)
	require.NoError(t, err)
	require.NoError(t, unix.Close(pair[0]))
	control, err := unix.ParseSocketControlMessage(message[:n])
	require.NoError(t, err)
	require.Len(t, control, 1, "the kernel lets nobody watch system calls: %s", p.output())
	fds, err := unix.ParseUnixRights(&control[0])
	require.NoError(t, err)
	return p, fds[0]
}

// Of the kernel's include/uapi/linux/seccomp.h.
const (
	notifReceive = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	notifSend    = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
)

type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	call  int32
	_     [60]byte
}

type notificationAnswer struct {
	id     uint64
	value  int64
	errno  int32
	policy uint32
}

// holdUp answers each system call that is asked for after a delay: it is to go on. It ends with the
// program.
func holdUp(listener int, delay *atomic.Int64) {
	defer unix.Close(listener)
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 1000); n == 0 || err == unix.EINTR {
			continue
		} else if err != nil || poll[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), notifReceive,
			uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // whoever asked is gone
		}
		go func() {
			answer := notificationAnswer{id: n.id, policy: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
			if d := delay.Load(); d < 0 {
				answer = notificationAnswer{id: n.id, errno: int32(d)}
			} else if n.call == unix.SYS_FSYNC || n.call == unix.SYS_FDATASYNC {
				time.Sleep(time.Duration(d))
			}
			_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), notifSend, uintptr(unsafe.Pointer(&answer)))
		}()
	}
}

// becomeWatched makes this process the program of its command line, after it has handed the test
// what its system calls are asked for by.
func becomeWatched(how string) error {
	runtime.LockOSThread() // the one that becomes the program
	listen := listenToChanges
	if how == toWitness {
		listen = witness.Listen
	}
	listener, err := listen()
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(3)
	unix.CloseOnExec(listener)
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// listenToChanges lets this thread, and what it becomes, be asked for before it changes a file that
// is open.
func listenToChanges() (listener int, err error) {
	statement := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
	}
	changes := []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE}
	filter := []unix.SockFilter{statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, 0)} // the number of the call
	for i, call := range changes {
		filter = append(filter, statement(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, uint8(len(changes)-i), 0))
	}
	filter = append(filter, statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0),
		statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_USER_NOTIF, 0, 0))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return -1, fmt.Errorf("watch system calls: %w", errno)
	}
	return int(fd), nil
}

// lone is a bridge without a service.
type lone struct {
	*program
	base, token, yaml string
}

// newLone writes the configuration of a bridge without a service, below dir.
func newLone(t *testing.T, dir, cameras string) *lone {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	port := harness.Port(t)
	b := &lone{base: fmt.Sprintf("http://127.0.0.1:%d", port), token: lanToken,
		yaml: filepath.Join(dir, "vmsbridge.yaml")}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lan.token"), []byte(lanToken), 0o600))
	require.NoError(t, os.WriteFile(b.yaml, []byte(fmt.Sprintf(`
bridge: {id: lone, account: acc, data: %q}
clock: {wait: 0s}
api: {listen: "127.0.0.1:%d", tokens: [{name: lan, token_file: lan.token}]}
stills: {max_size: 256MiB}
cameras:
%s`, filepath.Join(dir, "data"), port, cameras)), 0o600))
	return b
}

// motions are the camera's motion events, oldest first.
func (b *lone) motions(t *testing.T, camera string) []vms.Event {
	t.Helper()
	q := url.Values{"actor": {"camera:" + camera}, "type__in": {vms.TypeMotion}, "sort": {"+startTimestamp"},
		"pageSize":            {"100"},
		"startTimestamp__gte": {"2020-01-01T00:00:00.000+00:00"},
		"startTimestamp__lte": {"2100-01-01T00:00:00.000+00:00"}}
	code, _, body := get(t, b.base+"/api/v3.0/events?"+q.Encode(), b.token)
	require.Equal(t, http.StatusOK, code, "%s", body)
	var page vms.EventPage
	require.NoError(t, json.Unmarshal(body, &page))
	return page.Results
}

var droppedLine = regexp.MustCompile(`(?m)^vmsbridge_\w*units_dropped_total\{[^}]*\} ([0-9.e+]+)$`)

// dropped is how many access units were dropped.
func (b *lone) dropped(t *testing.T) (sum float64) {
	t.Helper()
	code, _, body := get(t, b.base+"/metrics", b.token)
	require.Equal(t, http.StatusOK, code)
	for _, m := range droppedLine.FindAllStringSubmatch(string(body), -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		sum += n
	}
	return sum
}

// slowest asks for a bridge's health again and again until stop is closed, and tells how long the
// slowest answer took.
func slowest(base string, stop <-chan struct{}) (worst time.Duration) {
	client := &http.Client{Timeout: 30 * time.Second}
	for {
		select {
		case <-stop:
			return worst
		case <-time.After(100 * time.Millisecond):
		}
		began := time.Now()
		if res, err := client.Get(base + "/healthz"); err == nil {
			_ = res.Body.Close()
		}
		worst = max(worst, time.Since(began))
	}
}

// comparison is what a bridge on a slow disk made of some cameras, beside what one on a good disk
// did.
type comparison struct {
	motions, missed, extra int
	start, end             time.Duration // the worst differences
	dropped                float64
	health, control        time.Duration // slowest answers
}

func (c comparison) String() string {
	return fmt.Sprintf("%d motions, %d missed, %d more, start off by %v, end by %v, %.0f access units dropped, "+
		"slowest /healthz %v (control %v)", c.motions, c.missed,
		c.extra, c.start, c.end, c.dropped, c.health.Round(time.Millisecond), c.control.Round(time.Millisecond))
}

// compare lets bridges, the first of which is on a good disk, watch for a time, calls watched, and
// then says what each of the others made of it. Motions count that began after the first seconds,
// and ended a while before the end.
func compare(t *testing.T, cameras []string, watch, delay time.Duration, watched func(),
	bridges ...*lone) []comparison {
	t.Helper()
	stop := make(chan struct{})
	answers := make([]time.Duration, len(bridges))
	var asking sync.WaitGroup
	for i, b := range bridges {
		asking.Go(func() { answers[i] = slowest(b.base, stop) })
	}
	from := time.Now().Add(4 * time.Second)
	bridges[0].pause(watch)
	until := time.Now().Add(-2 * time.Second)
	close(stop)
	asking.Wait()
	watched()
	// What has happened is on the slow disk a few of its fsyncs later.
	ends := func(b *lone) (list map[string][]vms.Event) {
		list = map[string][]vms.Event{}
		for _, c := range cameras {
			for _, ev := range b.motions(t, c) {
				if ev.StartTimestamp.After(from) && !ev.Ongoing() && ev.EndTimestamp.Before(until) {
					list[c] = append(list[c], ev)
				}
			}
		}
		return list
	}
	want := ends(bridges[0])
	var out []comparison
	for i, b := range bridges[1:] {
		var c comparison
		judge := func() {
			c = comparison{dropped: b.dropped(t), health: answers[i+1], control: answers[0]}
			got := ends(b)
			for _, camera := range cameras {
				matched := 0
				for _, w := range want[camera] {
					c.motions++
					found := false
					for _, g := range got[camera] {
						if d := g.StartTimestamp.Sub(w.StartTimestamp.Time).Abs(); d < time.Second {
							found = true
							c.start, c.end = max(c.start, d), max(c.end, g.EndTimestamp.Sub(w.EndTimestamp.Time).Abs())
						}
					}
					if found {
						matched++
					} else {
						c.missed++
					}
				}
				c.extra += max(0, len(got[camera])-matched)
			}
		}
		for wait := time.Now().Add(10*delay + 5*time.Second); ; time.Sleep(200 * time.Millisecond) {
			if judge(); c.missed == 0 || time.Now().After(wait) {
				break
			}
		}
		out = append(out, c)
	}
	return out
}

// fourCameras are cameras with motion every ten seconds, and their YAML.
func fourCameras(t *testing.T) (ids []string, yaml string) {
	t.Helper()
	for n := range 4 {
		id := fmt.Sprint("cam", n)
		address := sceneCamera(t, "mjpeg", "--length", "10", "--seed", fmt.Sprint(n+1), "--size", "352x288")
		ids, yaml = append(ids, id), yaml+cameraYAML(id, address, "", "tcp", "", "")
	}
	return ids, yaml
}

// TestASlowDiskBlindsNoCamera: each fsync of the bridge takes five seconds, as a card that erases
// does to it. A bridge on a good disk, which watches the same four cameras, sees no more than it
// does, at the same times.
func TestASlowDiskBlindsNoCamera(t *testing.T) {
	t.Parallel()
	const delay = 5 * time.Second
	ids, yaml := fourCameras(t)
	dir := t.TempDir()
	control, slow := newLone(t, filepath.Join(dir, "control"), yaml), newLone(t, filepath.Join(dir, "slow"), yaml)
	var now atomic.Int64
	slow.program = startSlow(t, &now, "vmsbridge", "run", "--config", slow.yaml)
	control.program = start(t, "vmsbridge", "run", "--config", control.yaml)
	control.line("the bridge runs", 30*time.Second)
	slow.line("the bridge runs", 30*time.Second)
	now.Store(int64(delay))
	c := compare(t, ids, 24*time.Second, delay, func() {}, control, slow)[0]
	t.Log(c)
	require.GreaterOrEqual(t, c.motions, 4, "one of each camera at least")
	require.Zero(t, c.missed)
	require.Zero(t, c.extra)
	require.Zero(t, c.dropped)
	require.LessOrEqual(t, c.start, 200*time.Millisecond)
	require.LessOrEqual(t, c.end, 200*time.Millisecond)
	require.LessOrEqual(t, c.health, stretched(500*time.Millisecond))
	said, _, _ := try(t, "vmsbridge", "status", "--config", slow.yaml)
	require.Regexp(t, `the disk that holds .*slow/data has been slow since 20\S+Z: a write took \d+`, said)
	require.Contains(t, said, "replace the card")
	said, _, _ = try(t, "vmsbridge", "status", "--config", control.yaml)
	require.NotContains(t, said, "slow")
}

// TestSlowDiskTable measures, for $SLOWDISK_FOR a line, what fsyncs of several lengths cost, and,
// with $SLOWDISK_OLD, a folder with the programs of another version, the same of that one beside
// it.
func TestSlowDiskTable(t *testing.T) {
	watch, err := time.ParseDuration(os.Getenv("SLOWDISK_FOR"))
	if err != nil {
		t.Skip("this is a measurement: SLOWDISK_FOR=60s go test -v -run TestSlowDiskTable ./cmd/vmsbridge/e2e")
	}
	for _, delay := range []time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second} {
		t.Run(delay.String(), func(t *testing.T) {
			ids, yaml := fourCameras(t)
			dir, now := t.TempDir(), bin
			bridges := []*lone{newLone(t, filepath.Join(dir, "control"), yaml),
				newLone(t, filepath.Join(dir, "slow"), yaml)}
			bridges[0].program = start(t, "vmsbridge", "run", "--config", bridges[0].yaml)
			var takes atomic.Int64
			bridges[1].program = startSlow(t, &takes, "vmsbridge", "run", "--config", bridges[1].yaml)
			if old := os.Getenv("SLOWDISK_OLD"); old != "" {
				b := newLone(t, filepath.Join(dir, "old"), yaml)
				bin = old
				b.program = startSlow(t, &takes, "vmsbridge", "run", "--config", b.yaml)
				bin = now
				bridges = append(bridges, b)
			}
			for _, b := range bridges {
				b.line("the bridge runs", 60*time.Second)
			}
			takes.Store(int64(delay))
			for i, c := range compare(t, ids, watch, delay, func() { takes.Store(0) }, bridges...) {
				load, _ := os.ReadFile("/proc/loadavg")
				t.Logf("fsync %v, %s: %v; load %s", delay, []string{"this version", "the other one"}[i], c,
					strings.Fields(string(load))[0])
			}
		})
	}
}
