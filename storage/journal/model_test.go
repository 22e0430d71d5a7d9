package journal_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
)

// TestCursorsAgainstAModel puts, passes, trims, prunes and reopens at random, and compares with
// slices.
func TestCursorsAgainstAModel(t *testing.T) {
	sample.Lives(t, 25)
	type entry struct {
		id    string
		began bool
	}
	dir := sample.Folder(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		j, err := journal.Open(path, journal.Options{})
		require.NoError(rt, err)
		defer func() { _ = j.Close() }()
		names := []string{"x", "y"}
		list, err := j.Cursors(names...)
		require.NoError(rt, err)
		var log []entry
		at := []int{0, 0} // entries passed, of log
		newest := func(i int) bool {
			return !slices.ContainsFunc(log[i+1:], func(e entry) bool { return e.id == log[i].id })
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				actor := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "actor")
				ev := sample.Event(actor, 0, time.Second)
				if rapid.Bool().Draw(rt, "ongoing") {
					ev.EndTimestamp = nil
				}
				require.NoError(rt, j.Put(ev, rapid.Bool().Draw(rt, "report")))
				for i := 0; i < len(log); i++ {
					if log[i].id == ev.ID && (log[i].began == ev.Ongoing() || ev.Ongoing()) {
						log = slices.Delete(log, i, i+1)
						for c := range at {
							if at[c] > i {
								at[c]--
							}
						}
						i--
					}
				}
				log = append(log, entry{ev.ID, ev.Ongoing()})
			},
			"pass": func(rt *rapid.T) {
				c := rapid.IntRange(0, 1).Draw(rt, "cursor")
				left := len(log) - at[c]
				if left == 0 {
					return
				}
				k := rapid.IntRange(1, left).Draw(rt, "n")
				changes, err := list[c].Read(0, k)
				require.NoError(rt, err)
				require.Len(rt, changes, k)
				require.NoError(rt, list[c].Advance(changes[k-1].Place))
				at[c] += k
			},
			"trim": func(rt *rapid.T) {
				c, most := rapid.IntRange(0, 1).Draw(rt, "cursor"), rapid.IntRange(1, 5).Draw(rt, "most")
				skipped, err := list[c].Trim(most, time.Time{})
				require.NoError(rt, err)
				require.Equal(rt, max(0, len(log)-at[c]-most), skipped)
				at[c] += skipped
			},
			"prune": func(rt *rapid.T) {
				_, err := j.Prune(journal.Retention{Before: sample.Epoch.Add(time.Hour)})
				require.NoError(rt, err)
			},
			"reopen": func(rt *rapid.T) {
				r, err := j.Check()
				require.NoError(rt, err)
				require.Empty(rt, r.Problems)
				require.NoError(rt, j.Close())
				j, err = journal.Open(path, journal.Options{})
				require.NoError(rt, err)
				require.Nil(rt, j.Damage())
				list, err = j.Cursors(names...)
				require.NoError(rt, err)
			},
			"": func(rt *rapid.T) {
				for c := range names {
					changes, err := list[c].Read(0, 1000)
					require.NoError(rt, err)
					require.Len(rt, changes, len(log)-at[c])
					for i, ch := range changes {
						e := log[at[c]+i]
						require.Equal(rt, e, entry{ch.Event.ID, ch.Began})
						require.Equal(rt, newest(at[c]+i), ch.Newest)
					}
				}
			},
		})
	})
}
