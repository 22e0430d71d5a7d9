package journal

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

const crashEnv = "JOURNAL_TEST_CRASH_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		crashChild(path)
	}
	goleak.VerifyTestMain(m)
}

// crashChild writes to the journal as fast as it can, and says on standard output what the journal
// has promised. It never returns; the parent kills it.
func crashChild(path string) {
	fail := func(err error) {
		fmt.Println("error", err)
		os.Exit(1)
	}
	j, err := Open(path, Options{})
	if err != nil {
		fail(err)
	}
	if j.Damage() != nil {
		fail(fmt.Errorf("damaged: %v", j.Damage()))
	}
	var mu sync.Mutex
	say := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(words...)
	}
	run := fmt.Sprint(os.Getpid(), "-", time.Now().UnixNano())
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				ev := sample.Event(fmt.Sprint("w", w), time.Duration(i)*time.Millisecond, sample.GoesOn)
				ev.ID = fmt.Sprintf("%s/%d/%d", strings.ReplaceAll(run, " ", ""), w, i)
				if err := j.Put(ev, true); err != nil {
					fail(err)
				}
				say("put", ev.ID)
				if i%3 == 0 {
					ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Second))
					if err := j.Put(ev, true); err != nil {
						fail(err)
					}
					say("ended", ev.ID)
				}
			}
		}()
	}
	for {
		entries, err := j.Peek(3)
		if err != nil {
			fail(err)
		}
		for _, e := range entries {
			say("acking", e.Event.ID)
			if err := ack(j, e.Event.ID, e.Revision); err != nil {
				fail(err)
			}
		}
	}
}

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db") // in memory, the child would get further than is worth reading
	rng := rand.New(rand.NewPCG(3, 4))
	put, ended, acking := map[string]bool{}, map[string]bool{}, map[string]bool{}
	kills := 10
	if testing.Short() {
		kills = 3
	}
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashEnv+"="+path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		// The kill comes after some lines, so that work was done, whatever the machine's speed.
		after := 20 + rng.IntN(300)
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == after {
				require.NoError(t, cmd.Process.Kill())
			}
			// A line is whole only up to the kill; what the pipe still holds was written before it.
			word, id, _ := strings.Cut(lines.Text(), " ")
			switch word {
			case "put":
				put[id] = true
			case "ended":
				ended[id] = true
			case "acking":
				acking[id] = true
			default:
				t.Fatalf("child says: %s", lines.Text())
			}
		}
		require.Error(t, cmd.Wait(), "it was killed")

		j, err := Open(path, Options{})
		require.NoError(t, err)
		require.Nil(t, j.Damage())
		requireClean(t, j)
		waiting := map[string]bool{}
		entries, err := j.Peek(1 << 30)
		require.NoError(t, err)
		for _, e := range entries {
			require.False(t, waiting[e.Event.ID], "%s waits twice", e.Event.ID)
			waiting[e.Event.ID] = true
		}
		for id := range put {
			ev, err := j.Get(id)
			require.NoError(t, err, "an acknowledged event is lost")
			if ended[id] {
				require.False(t, ev.Ongoing(), "an acknowledged end is lost")
			}
			require.True(t, waiting[id] || acking[id], "%s neither waits nor was it ever reported", id)
		}
		require.NoError(t, j.Close())
	}
	require.NotEmpty(t, put)
	require.NotEmpty(t, acking)
}
