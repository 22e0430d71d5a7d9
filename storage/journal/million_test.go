package journal

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// go test -run '^$' -bench Million -benchtime 200x -timeout 30m ./storage/journal
//
// The events of a month and a half of 100 cameras: a million, of which every camera has 1 %, 1 %
// are of a rare type, and 1 % fall into a stretch of time. first is a list's first page (100
// events), deep one from its middle.
func BenchmarkMillion(b *testing.B) {
	events := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("JOURNAL_BENCH_EVENTS")); err == nil {
		events = n
	}
	const cameras = 100
	path := sample.Path(b)
	j, err := Open(path, Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, j.Close()) }()
	for from := 0; from < events; from += 50_000 {
		list := make([]vms.Event, min(50_000, events-from))
		for i := range list {
			n := from + i
			list[i] = sample.Event(fmt.Sprint("cam", n%cameras), time.Duration(n)*4*time.Second,
				time.Duration(n*4+5)*time.Second)
			if n/cameras%100 == 0 {
				list[i].Type = vms.TypeTamper
				list[i].ID = list[i].NaturalID()
			}
		}
		putMany(b, j, list)
	}
	at := func(share float64) *vms.Time {
		return vms.Ptr(sample.Epoch.Add(time.Duration(share*float64(events)*4) * time.Second))
	}
	cam := []vms.Actor{{Type: vms.ActorCamera, ID: "cam7"}}
	var each []vms.Actor
	for i := range cameras {
		each = append(each, vms.Actor{Type: vms.ActorCamera, ID: fmt.Sprint("cam", i)})
	}
	for _, q := range []struct {
		name string
		q    vms.Query
	}{
		{"actor", vms.Query{Actors: cam}},
		{"actors", vms.Query{Actors: each}},
		{"type", vms.Query{Types: []string{vms.TypeTamper}}},
		{"time", vms.Query{StartGTE: at(0.5), StartLTE: at(0.51)}},
		{"end", vms.Query{EndGTE: at(0.99)}},
		{"actor,type", vms.Query{Actors: cam, Types: []string{vms.TypeTamper}}},
		{"actor,day", vms.Query{Actors: cam, StartGTE: at(0.5), EndLTE: vms.Ptr(at(0.5).Add(24 * time.Hour))}},
		{"all", vms.Query{}},
	} {
		first, err := j.List(q.q, nil)
		require.NoError(b, err)
		deep := first.Next
		for range first.Total / 100 / 2 {
			if q.name == "all" {
				deep = &vms.Cursor{Start: *at(0.5), ID: "x"}
				break
			}
			page, err := j.List(q.q, deep)
			require.NoError(b, err)
			deep = page.Next
		}
		for name, c := range map[string]*vms.Cursor{"first": nil, "deep": deep} {
			b.Run("list="+q.name+"/page="+name, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					began := time.Now()
					_, err := j.List(q.q, c)
					took = append(took, time.Since(began))
					require.NoError(b, err)
				}
				reportQuantiles(b, took)
				b.ReportMetric(float64(first.Total), "matches")
			})
		}
	}
	j = benchmarkSize(b, path, j)
	benchmarkCompact(b, j, events)
}

// benchmarkSize measures what a million events cost on disk, in memory, and at the start. It gives
// back the journal, opened again.
func benchmarkSize(b *testing.B, path string, j *Journal) *Journal {
	b.Run("put=one-more", func(b *testing.B) {
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			ev := sample.Event("cam1", time.Duration(-i)*time.Second, time.Duration(-i)*time.Second)
			began := time.Now()
			err := j.Put(ev, true)
			took = append(took, time.Since(began))
			require.NoError(b, err)
		}
		reportQuantiles(b, took)
	})
	once(b, "open", func(b *testing.B) map[string]float64 {
		began := time.Now()
		require.NoError(b, j.Close())
		closed := time.Now()
		again, err := Open(path, Options{})
		require.NoError(b, err)
		took := time.Since(closed)
		j = again
		s, err := j.OutboxStats()
		require.NoError(b, err)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return map[string]float64{"ms": took.Seconds() * 1e3, "close-ms": closed.Sub(began).Seconds() * 1e3,
			"file-MB": float64(s.Bytes) / 1e6, "heap-MB": float64(m.HeapAlloc) / 1e6, "anon-MB": anonymousMB()}
	})
	once(b, "open=after-crash", func(b *testing.B) map[string]float64 {
		require.NoError(b, sample.Crash(path, j.Close))
		began := time.Now()
		again, err := Open(path, Options{})
		require.NoError(b, err)
		j = again
		return map[string]float64{"s": time.Since(began).Seconds()}
	})
	once(b, "check", func(b *testing.B) map[string]float64 {
		began := time.Now()
		requireClean(b, j)
		return map[string]float64{"s": time.Since(began).Seconds()}
	})
	return j
}

// once measures what is done a single time, whatever -benchtime says.
func once(b *testing.B, name string, f func(*testing.B) map[string]float64) {
	var found map[string]float64
	b.Run(name, func(b *testing.B) {
		if found == nil {
			found = f(b)
		}
		b.ReportMetric(0, "ns/op")
		for unit, value := range found {
			b.ReportMetric(value, unit)
		}
	})
}

// anonymousMB is the process's memory that is not the file's own pages.
func anonymousMB() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1e3
		}
	}
	return 0
}

// benchmarkCompact prunes three quarters and compacts while events come.
func benchmarkCompact(b *testing.B, j *Journal, events int) {
	once(b, "prune=three-quarters", func(b *testing.B) map[string]float64 {
		began := time.Now()
		n, err := j.Prune(Retention{Keep: events / 4})
		require.NoError(b, err)
		return map[string]float64{"s": time.Since(began).Seconds(), "events": float64(n)}
	})
	once(b, "compact", func(b *testing.B) map[string]float64 {
		stop := make(chan struct{})
		var took []time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if err := j.Put(sample.Event("late", time.Duration(i)*time.Second, time.Duration(i)*time.Second),
					true); err != nil {
					b.Error(err)
					return
				}
				took = append(took, time.Since(began))
			}
		})
		c, err := j.Compact(b.Context())
		close(stop)
		wg.Wait()
		require.NoError(b, err)
		slices.Sort(took)
		return map[string]float64{"before-MB": float64(c.Before) / 1e6, "after-MB": float64(c.After) / 1e6,
			"s":       c.Took.Seconds(),
			"held-ms": c.Held.Seconds() * 1e3, "put-p50-ms": took[len(took)/2].Seconds() * 1e3,
			"put-max-ms": took[len(took)-1].Seconds() * 1e3}
	})
}
