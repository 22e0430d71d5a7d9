package mqtt

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 45 * time.Second

// broker is Debian's mosquitto on a port of its own, which may be stopped and started again.
type broker struct {
	t    testing.TB
	dir  string
	port int
	conf string
	cmd  *exec.Cmd
}

// startBroker runs mosquitto with these lines of configuration beside the port; %d in them is a
// folder of its own.
func startBroker(t testing.TB, lines ...string) *broker {
	t.Helper()
	path := program(t, "mosquitto")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &broker{t: t, dir: t.TempDir(), port: l.Addr().(*net.TCPAddr).Port}
	require.NoError(t, l.Close())
	if len(lines) == 0 {
		lines = []string{"allow_anonymous true"}
	}
	b.conf = filepath.Join(b.dir, "mosquitto.conf")
	text := fmt.Sprintf("listener %d 127.0.0.1\nuser root\npersistence true\npersistence_location %s/\n"+
		"log_type error\nlog_type warning\nlog_type notice\nlog_type subscribe\n%s\n", b.port, b.dir,
		strings.ReplaceAll(strings.Join(lines, "\n"), "%d", b.dir))
	require.NoError(t, os.WriteFile(b.conf, []byte(text), 0o600))
	b.start(path)
	t.Cleanup(b.stop)
	return b
}

// program finds one of mosquitto's programs, or skips the test.
func program(t testing.TB, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			t.Skipf("%s is not installed: apt install mosquitto mosquitto-clients (scripts/deps does)", name)
		}
	}
	return path
}

func (b *broker) start(path string) {
	b.t.Helper()
	out, err := os.OpenFile(filepath.Join(b.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b.t, err)
	defer out.Close()
	b.cmd = exec.Command(path, "-c", b.conf)
	b.cmd.Stdout, b.cmd.Stderr = out, out
	require.NoError(b.t, b.cmd.Start())
	require.Eventually(b.t, func() bool {
		c, err := net.Dial("tcp", b.addr())
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, patience, 10*time.Millisecond, "the broker does not start")
}

func (b *broker) again() { b.start(b.cmd.Path) }

// stop ends it in good order: it writes what is retained.
func (b *broker) stop() { b.end(syscall.SIGTERM) }

func (b *broker) kill() { b.end(syscall.SIGKILL) }

func (b *broker) end(s os.Signal) {
	if b.cmd == nil {
		return
	}
	if b.cmd.ProcessState == nil {
		_ = b.cmd.Process.Signal(s)
		_ = b.cmd.Wait()
	}
}

func (b *broker) addr() string { return fmt.Sprintf("127.0.0.1:%d", b.port) }
func (b *broker) url() string  { return "mqtt://" + b.addr() }

// listener is mosquitto_sub on all topics: a client that is not ours.
type listener struct {
	mu   sync.Mutex
	list []heard
	cmd  *exec.Cmd
	done chan struct{}
}

type heard struct {
	topic, payload string
	retained       bool // it lay there when the listener came
}

func listen(t testing.TB, b *broker, args ...string) *listener {
	t.Helper()
	id := "listener-" + rand.Text()
	args = append([]string{"-i", id, "-h", "127.0.0.1", "-p", fmt.Sprint(b.port), "-q", "1", "-t", "#",
		"-V", "mqttv311", "-F", "%r %t %p"}, args...)
	l := &listener{cmd: exec.Command(program(t, "mosquitto_sub"), args...), done: make(chan struct{})}
	out, err := l.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, l.cmd.Start())
	go func() {
		defer close(l.done)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 4<<20)
		for s.Scan() {
			parts := append(strings.SplitN(s.Text(), " ", 3), "", "")
			l.mu.Lock()
			l.list = append(l.list, heard{parts[1], parts[2], parts[0] == "1"})
			l.mu.Unlock()
		}
	}()
	t.Cleanup(l.close)
	// What is published before it has subscribed it does not hear.
	eventually(t, func() bool {
		log, err := os.ReadFile(filepath.Join(b.dir, "log"))
		return err == nil && strings.Contains(string(log), id+" 1 #")
	}, "the listener does not subscribe")
	return l
}

func (l *listener) close() {
	_ = l.cmd.Process.Kill()
	<-l.done
	_ = l.cmd.Wait()
}

func (l *listener) heard() []heard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]heard(nil), l.list...)
}

// on is what was heard on a topic.
func (l *listener) on(topic string) (list []string) {
	for _, h := range l.heard() {
		if h.topic == topic {
			list = append(list, h.payload)
		}
	}
	return list
}

// last is the last of these, "" if there is none.
func (l *listener) last(topic string) string {
	if all := l.on(topic); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

func eventually(t testing.TB, f func() bool, what ...any) {
	t.Helper()
	require.Eventually(t, f, patience, 10*time.Millisecond, what...)
}

// site is a journal with a home at a broker.
type site struct {
	t       testing.TB
	path    string
	journal *journal.Journal
	cursor  *journal.Cursor
	options Options
	memory  Memory // nil: the journal
	home    *Broker
	cancel  context.CancelFunc
	done    chan error
}

func newSite(t testing.TB, url string, change func(*Options)) *site {
	t.Helper()
	s := &site{t: t, path: filepath.Join(t.TempDir(), "journal.db")}
	s.open()
	s.options = Options{URL: url, ClientID: "vmsbridge-b1", Prefix: "vmsbridge/b1", Discovery: "homeassistant",
		Bridge: Bridge{ID: "b1", Name: "Front gate", Version: "1.2"},
		Cameras: []Camera{{ID: "gate", Name: "Gate", Tamper: true, Regions: []Region{{"door", "Door"}}},
			{ID: "yard.2", Name: "Yard"}},
		FirstPause: 20 * time.Millisecond, MaxPause: 100 * time.Millisecond}
	if change != nil {
		change(&s.options)
	}
	s.start()
	t.Cleanup(func() { s.stop(); _ = s.journal.Close() })
	return s
}

func (s *site) open() {
	s.t.Helper()
	j, err := journal.Open(s.path, journal.Options{})
	require.NoError(s.t, err)
	list, err := j.Cursors("mqtt")
	require.NoError(s.t, err)
	s.journal, s.cursor = j, list[0]
}

func (s *site) start() {
	s.t.Helper()
	o := s.options
	o.Feed, o.Memory, o.Ongoing = s.cursor, s.journal, func() (list []vms.Event, err error) {
		open, err := s.journal.Unfinished()
		for _, o := range open {
			list = append(list, o.Event)
		}
		return list, err
	}
	if s.memory != nil {
		o.Memory = s.memory
	}
	h, err := New(o)
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.home, s.cancel, s.done = h, cancel, make(chan error, 1)
	go func() { s.done <- h.Run(ctx) }()
}

func (s *site) stop() {
	if s.cancel != nil {
		s.cancel()
		require.NoError(s.t, <-s.done)
		s.cancel = nil
	}
}

func (s *site) up() {
	s.t.Helper()
	eventually(s.t, func() bool { return s.home.Status().Up }, "the home does not come up")
}

// put puts an event that began so long ago; of zero length it goes on.
func (s *site) put(camera, kind string, ago, length time.Duration, data ...vms.Data) vms.Event {
	s.t.Helper()
	ev := s.event(camera, kind, ago, length, data...)
	require.NoError(s.t, s.journal.Put(ev, false))
	return ev
}

func (s *site) event(camera, kind string, ago, length time.Duration, data ...vms.Data) vms.Event {
	ev := vms.Event{Type: kind, StartTimestamp: vms.At(began.Add(-ago)), Span: true, AccountID: "acc", ActorID: camera,
		ActorAccountID: "acc", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	if length > 0 {
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
	}
	ev.SetData(append([]vms.Data{vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: vms.CreatorMotion})},
		data...)...)
	ev.ID = ev.NaturalID()
	return ev
}

// began is when this test began, so that an event that is put again has the same start.
var began = time.Now()

var _ delivery.Feed = (*journal.Cursor)(nil)
