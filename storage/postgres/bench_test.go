package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/vms"
)

// Both keepers of events on one disk, each waiting for it at every commit:
//
//	go test -run '^$' -bench . -benchtime 2s ./storage/postgres
func benchBooks(b *testing.B, bench func(*testing.B, book, followers)) {
	b.Run("impl=journal", func(b *testing.B) {
		j, err := journal.Open(filepath.Join(b.TempDir(), "events.db"), journal.Options{})
		require.NoError(b, err)
		defer func() { require.NoError(b, j.Close()) }()
		bench(b, j, followersOf(j.Cursors))
	})
	b.Run("impl=postgres", func(b *testing.B) {
		db := openAt(b, postgrestest.Start(b, postgrestest.Durable).Database(b))
		e, err := db.Events()
		require.NoError(b, err)
		bench(b, e, followersOf(e.Cursors))
	})
}

// reported is report number n of 500 cameras that report in turn.
func reported(n int) vms.Event {
	return event(fmt.Sprintf("a/cam%03d", n%500), zero.Add(-time.Duration(n/500)*time.Second))
}

func BenchmarkPutAll(b *testing.B) {
	for _, size := range []int{1, 512} {
		for _, follow := range []bool{false, true} { // with a cursor, as the service has for streams
			b.Run(fmt.Sprintf("size=%d/follow=%t", size, follow), func(b *testing.B) {
				benchBooks(b, func(b *testing.B, k book, open followers) {
					if follow {
						_, err := open("streams")
						require.NoError(b, err)
					}
					n := 0
					for b.Loop() {
						batch := make([]vms.Event, size)
						for i := range batch {
							batch[i] = reported(n)
							n++
						}
						require.NoError(b, k.PutAll(batch, false))
					}
					b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
				})
			})
		}
	}
}

// BenchmarkList lists the first page of 100, among 100,000 events of 500 cameras, or
// STORE_BENCH_EVENTS.
func BenchmarkList(b *testing.B) {
	events := 100_000
	if n, err := strconv.Atoi(os.Getenv("STORE_BENCH_EVENTS")); err == nil {
		events = n
	}
	benchBooks(b, func(b *testing.B, k book, _ followers) {
		for n := 0; n < events; {
			batch := make([]vms.Event, 2000)
			for i := range batch {
				batch[i] = reported(n)
				n++
			}
			require.NoError(b, k.PutAll(batch, false))
		}
		for _, cameras := range []int{1, 50, 500} {
			q := vms.Query{Counted: new(int)}
			for i := range cameras {
				q.Actors = append(q.Actors, vms.Actor{Type: "camera", ID: fmt.Sprintf("a/cam%03d", i)})
			}
			for name, counted := range map[string]*int{"counted=yes": nil, "counted=no": new(int)} {
				q.Counted = counted
				b.Run(fmt.Sprintf("cameras=%d/%s", cameras, name), func(b *testing.B) {
					var took []float64
					for b.Loop() {
						began := time.Now()
						page, err := k.List(q, nil)
						took = append(took, float64(time.Since(began).Microseconds())/1000)
						require.NoError(b, err)
						require.Len(b, page.Events, 100)
					}
					slices.Sort(took)
					b.ReportMetric(took[len(took)/2], "p50-ms")
					b.ReportMetric(took[len(took)*99/100], "p99-ms")
				})
			}
		}
	})
}
