package locks

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// meant are the locks that are held where something may block, what that is, and why nobody who
// must not wait, waits for them: no camera, no request, no health check.
var meant = []struct{ lock, what, why string }{
	{"agent.edits.turn", "Load|takeOver", "one reload at a time; only the next reload waits"},
	{"agent/camera.Source.statusMu", "OnStatus", "changes stay in order; the pipeline puts them into its queue"},
	{"agent/camera.session.mu", "noKeyframe|the function f,",
		"a panic ends one session; the callbacks put into the pipeline's queue"},
	{"agent/camera.dialer.mu", "net.Conn", "closing a socket without linger waits for nobody"},
	{"agent/codec.Decoder.mu", "",
		"one camera's decoder inside the agent (decode.isolation: none), for that camera alone"},
	{"agent/codec/engine.Engine.mu", "avcodec.Open|Prefer|jpeg.Open",
		"the libraries are looked for, and tried, once, at the start"},
	{"agent/pipeline.queue.mu", "count", "it adds to a counter"},
	{"cmd/vmscloud/presence.Watch.mu", "the function (put|note|look),", "closures of the same room, over maps"},
	{"cmd/vmscloud/registry.Registry.mu", "Away", "it answers out of a map"},
	{"cmd/vmscloud/registry.Registry.writeMu", "keep|erase|register",
		"the queue of those who change the registry; requests read under mu"},
	{"storage/database.DB.mu", "", "transactions take it only while the file is away or being replaced; damage has a " +
		"lock of its own"},
	{"storage/journal/file.File.commitMu", "", "the queue of those who change the journal; reads do not take it"},
	{"storage/journal/file.File.dbMu", "", "read-held by transactions; taken for writing only to replace a damaged " +
		"file, to swap in a compacted one, and to close"},
	{"storage/journal/file.File.lateMu", "",
		"held while the file takes what was promised, unflushed; who reads must see it"},
	{"storage/journal/file.File.pointMu", "", "one checkpoint at a time; only changes wait that need the next"},
	{"storage/stills.Ring.appendMu", "", "the queue of those who write stills: the shelf, the flusher; questions, " +
		"sums and cameras do not take it"},
	{"storage/stills.Ring.flushMu", "", "one flush at a time, by the flusher"},
	{"storage/stills/segment.Flushing.mu", "", "held while a file is flushed or closed, never for a write or a read"},
	{"storage/stills/segment.Writer.mu", "", "held while a file is flushed or closed, never for a write or a read"},
	{"storage/stills/segment.Handles.mu", "Close|leave", "closing a file that was only read waits for nothing"},
	{"storage/vfs/vfstest.Disk.mu", "", "for tests only: it is memory"},
	{"uplink/admit.Listener.mu", "the function (own|makeRoom|full)", "closures of the same room, over maps"},
	{"uplink/client.Client.mu", "the function read",
		"the token's file is read once for all requests that were refused with it; they need it"},
	{"uplink/delivery.Engine.mu", "the function change", "it sets fields"},
	{"uplink/server.sight.mu", "authenticate|Config",
		"what one token may see is found out once a second, out of memory; only the streams of that token wait"},
	{"uplink/server.subscriptions.mu", "the function change", "it sets fields"},
}

func TestNoLockIsHeldWhereSomethingMayBlock(t *testing.T) {
	p, err := Load("../..", "./...")
	require.NoError(t, err)
	used := map[int]bool{}
	for _, f := range p.Find() {
		i := slices.IndexFunc(meant, func(m struct{ lock, what, why string }) bool {
			return m.lock == f.Lock && regexp.MustCompile(m.what).MatchString(f.What)
		})
		if i < 0 {
			t.Errorf("%s\n\tlet go of the lock before, or, if nobody can wait for it who must not, say so in the "+
				"list of this test", f)
		}
		used[i] = true
	}
	for i, m := range meant {
		require.True(t, used[i], "%s is no longer held where something may block: strike it out of the list", m.lock)
	}
}

// The search finds what is planted, line by line, and nothing else.
func TestPlanted(t *testing.T) {
	p, err := Load("testdata/planted", "./...")
	require.NoError(t, err)
	got := map[string]bool{}
	for _, f := range p.Find() {
		require.True(t, strings.HasPrefix(f.Lock, "planted.store."), f.Lock)
		got[f.Place] = true
	}
	file, err := os.Open("testdata/planted/planted.go")
	require.NoError(t, err)
	defer file.Close()
	want := map[string]bool{}
	for n, s := 1, bufio.NewScanner(file); s.Scan(); n++ {
		if strings.Contains(s.Text(), "// found") {
			want[fmt.Sprintf("planted.go:%d", n)] = true
		}
	}
	require.Equal(t, want, got)
}
