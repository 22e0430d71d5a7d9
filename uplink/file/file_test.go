package file

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func eventually(t *testing.T, f func() bool, what ...any) {
	t.Helper()
	require.Eventually(t, f, 45*time.Second, 5*time.Millisecond, what...)
}

// site is a journal with a file.
type site struct {
	t       *testing.T
	dir     string
	path    string
	journal *journal.Journal
	feed    *journal.Cursor
	put     int
}

func newSite(t *testing.T, name string) *site {
	s := &site{t: t, dir: t.TempDir()}
	s.path = filepath.Join(s.dir, name)
	j, err := journal.Open(filepath.Join(s.dir, "journal.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	list, err := j.Cursors("file")
	require.NoError(t, err)
	s.journal, s.feed = j, list[0]
	return s
}

func (s *site) run() (f *File, stop func()) {
	s.t.Helper()
	f, err := New(Options{Path: s.path, Feed: s.feed})
	require.NoError(s.t, err)
	f.patience = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); require.NoError(s.t, <-done) })
	s.t.Cleanup(stop)
	return f, stop
}

// add puts events that have ended, of two cameras.
func (s *site) add(n int, text string) {
	s.t.Helper()
	var list []vms.Event
	for range n {
		s.put++
		at := time.Date(2026, 1, 1, 0, 0, s.put, 0, time.UTC)
		ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at.Add(time.Second)),
			Span: true, AccountID: "a", ActorID: fmt.Sprint("cam", s.put%2), ActorAccountID: "a",
			ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
		ev.SetData(vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: "x", Vendor: text}))
		ev.ID = ev.NaturalID()
		list = append(list, ev)
	}
	require.NoError(s.t, s.journal.PutAll(list, false))
}

// starts is the order in which events came first in lines, all of which must be whole.
func starts(t *testing.T, lines string) (list []string) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(lines) {
		var ev vms.Event
		require.NoError(t, json.Unmarshal([]byte(line), &ev), "%q", line)
		if at := ev.StartTimestamp.String(); !seen[at] {
			seen[at] = true
			list = append(list, at)
		}
	}
	return list
}

func (s *site) requireAll(lines string) {
	s.t.Helper()
	list := starts(s.t, lines)
	require.Len(s.t, list, s.put)
	require.IsIncreasing(s.t, list)
}

func read(path string) string {
	content, _ := os.ReadFile(path)
	return string(content)
}

// Each event is a line, in the order of the bridge, through restarts, rotations of both kinds and a
// line that was cut off.
func TestLines(t *testing.T) {
	s := newSite(t, "events.jsonl")
	s.add(300, "")
	f, stop := s.run()
	eventually(t, func() bool { return f.Status().Waiting == 0 && f.Status().Up })
	require.EqualValues(t, 300, f.Status().Sent)
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o007, "events are not for everybody")
	first := read(s.path)
	require.NoError(t, os.Rename(s.path, s.path+".1"))
	s.add(1, "")
	eventually(t, func() bool { return strings.HasSuffix(read(s.path), "\n") })
	require.Equal(t, first, read(s.path+".1"))
	stop()

	torn := read(s.path) + `{"type":"vms.mot`
	require.NoError(t, os.WriteFile(s.path, []byte(torn), 0o600))
	s.add(5, "")
	f, _ = s.run()
	eventually(t, func() bool { return f.Status().Waiting == 0 })
	got := read(s.path)
	require.True(t, strings.HasPrefix(got, torn+"\n"), "what is in the file stays, and the cut line is ended")
	s.requireAll(first + strings.Replace(got, `{"type":"vms.mot`+"\n", "", 1))
}

// A pipe without a reader, with one that goes away, and with one that is stuck: events wait, and
// then come, in order.
func TestPipe(t *testing.T) {
	s := newSite(t, "pipe")
	require.NoError(t, syscall.Mkfifo(s.path, 0o600))
	f, _ := s.run()
	s.add(3, "")
	eventually(t, func() bool { return strings.Contains(f.Status().Problem, "nobody reads the pipe") })
	require.Equal(t, 3, f.Status().Waiting)

	r, err := os.Open(s.path)
	require.NoError(t, err)
	lines := bufio.NewReader(r)
	var got strings.Builder
	next := func() {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		got.WriteString(line)
	}
	for range 3 {
		next()
	}
	eventually(t, func() bool { return f.Status().Waiting == 0 && f.Status().Up })
	require.NoError(t, r.Close())
	s.add(1, "")
	eventually(t, func() bool { return strings.Contains(f.Status().Problem, "nobody reads the pipe") })

	r, err = os.Open(s.path)
	require.NoError(t, err)
	defer r.Close()
	lines = bufio.NewReader(r)
	next()
	s.add(60, strings.Repeat("x", 10_000)) // more than a pipe holds
	eventually(t, func() bool { return strings.Contains(f.Status().Problem, "is full") }, "%+v", f.Status())
	last := time.Date(2026, 1, 1, 0, 0, s.put, 0, time.UTC).Format(`"startTimestamp":"2006-01-02T15:04:05`)
	for !strings.Contains(got.String()[max(0, got.Len()-11_000):], last) {
		next()
	}
	s.requireAll(got.String())
	eventually(t, func() bool { return f.Status().Waiting == 0 && f.Status().Up })
}

// What keeps a file from being written is said with what to do, and events wait.
func TestProblems(t *testing.T) {
	for path, problem := range map[string]string{
		"no/such/folder": "make it, and let the bridge's user write there", "/dev/full": "free some",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := newSite(t, path)
			if filepath.IsAbs(path) {
				s.path = path
			}
			f, _ := s.run()
			s.add(3, "")
			eventually(t, func() bool { return strings.Contains(f.Status().Problem, problem) })
			require.Equal(t, 3, f.Status().Waiting)
			require.False(t, f.Status().Up)
		})
	}
}
