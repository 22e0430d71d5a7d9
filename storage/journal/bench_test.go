package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// go test -run '^$' -bench Put -benchtime 2s ./storage/journal
//
// impl=fsync is the floor: a bare write of as many bytes to a file, and fdatasync.
func BenchmarkPut(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("impl=journal/writers=%d", writers), func(b *testing.B) {
			j := open(b, temp(b), Options{})
			var n atomic.Int64
			var mu sync.Mutex
			var took []time.Duration
			b.ReportAllocs()
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					for {
						i := n.Add(1)
						if i > int64(b.N) {
							return
						}
						began := time.Now()
						if err := j.Put(event(fmt.Sprint("cam", w), time.Duration(i)*time.Second, time.Duration(i+1)*time.Second), true); err != nil {
							b.Error(err)
							return
						}
						d := time.Since(began)
						mu.Lock()
						took = append(took, d)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			reportQuantiles(b, took)
		})
	}
	b.Run("impl=fsync/writers=1", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "f"))
		require.NoError(b, err)
		defer f.Close()
		body := make([]byte, 4096)
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			_, err := f.Write(body)
			require.NoError(b, err)
			require.NoError(b, f.Sync())
			took = append(took, time.Since(began))
		}
		reportQuantiles(b, took)
	})
}

func reportQuantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	if len(took) == 0 {
		return
	}
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// go test -run '^$' -bench List -benchtime 20x ./storage/journal
func BenchmarkList(b *testing.B) {
	const events, cameras = 200_000, 100
	j := open(b, temp(b), Options{})
	j.db.NoSync = true // making them is not what is measured
	list := make([]vms.Event, events)
	for i := range list {
		list[i] = event(fmt.Sprint("cam", i%cameras), time.Duration(i)*time.Second, time.Duration(i+5)*time.Second)
	}
	putAll(b, j, list)
	from, to := vms.At(epoch.Add(100_000*time.Second)), vms.At(epoch.Add(102_000*time.Second))
	for name, q := range map[string]vms.Query{
		"query=all":            {},
		"query=camera":         {Actors: []vms.Actor{{Type: "camera", ID: "cam7"}}},
		"query=camera,hour":    {Actors: []vms.Actor{{Type: "camera", ID: "cam7"}}, StartGTE: &from, EndLTE: &to},
		"query=hour":           {StartGTE: &from, EndLTE: &to},
		"query=10cameras,hour": {Actors: []vms.Actor{{Type: "camera", ID: "cam1"}, {Type: "camera", ID: "cam2"}, {Type: "camera", ID: "cam3"}, {Type: "camera", ID: "cam4"}, {Type: "camera", ID: "cam5"}, {Type: "camera", ID: "cam6"}, {Type: "camera", ID: "cam7"}, {Type: "camera", ID: "cam8"}, {Type: "camera", ID: "cam9"}, {Type: "camera", ID: "cam10"}}, StartGTE: &from, EndLTE: &to},
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				page, err := j.List(q, nil)
				require.NoError(b, err)
				n = page.Total
			}
			b.ReportMetric(float64(n), "matches")
		})
	}
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			requireClean(b, j)
		}
	})
	b.Run("open=unclean", func(b *testing.B) {
		path := j.path
		for b.Loop() {
			j.dbMu.Lock()
			require.NoError(b, j.db.Close())
			err := j.openDB() // as after a crash: the clean mark is not there
			j.dbMu.Unlock()
			require.NoError(b, err)
		}
		info, _ := os.Stat(path)
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	})
}
