package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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

// BenchmarkMillions is lists and reports among STORE_BENCH_EVENTS (10,000,000) events of 500
// cameras in 30 days, with counts of days and as it was before them. They are made in the database
// at STORE_BENCH_POSTGRES, and stay there for another run:
//
//	STORE_BENCH_POSTGRES=postgres://... go test -run '^$' -bench Millions -benchtime 1x -timeout 0 ./storage/postgres
func BenchmarkMillions(b *testing.B) {
	address := os.Getenv("STORE_BENCH_POSTGRES")
	if address == "" {
		b.Skip("STORE_BENCH_POSTGRES names no database")
	}
	for b.Loop() {
		millions(b, address)
	}
}

func millions(b *testing.B, address string) {
	db := openAt(b, address)
	e, err := db.Events()
	require.NoError(b, err)
	conn, err := pgx.Connect(b.Context(), address)
	require.NoError(b, err)
	defer func() { require.NoError(b, conn.Close(b.Context())) }()
	counts := func(on bool) {
		for _, name := range []string{"inserted", "updated"} {
			verb := map[bool]string{true: "enable", false: "disable"}[on]
			_, err := conn.Exec(b.Context(), "alter table vms_events "+verb+" trigger vms_count_"+name)
			require.NoError(b, err)
		}
	}
	tell := func(format string, args ...any) {
		load, _ := os.ReadFile("/proc/loadavg")
		fmt.Printf("| %s | load %.4s |\n", fmt.Sprintf(format, args...), load)
	}
	empty, err := e.Empty()
	require.NoError(b, err)
	if empty {
		began := time.Now()
		n := fill(b, e, conn, "a/cam")
		tell("%d events made in %.0f s", n, time.Since(began).Seconds())
	}

	for _, cameras := range []int{1, 50, 500} {
		var q vms.Query
		for i := range cameras {
			q.Actors = append(q.Actors, vms.Actor{Type: "camera", ID: fmt.Sprintf("a/cam%03d", i)})
		}
		now := time.Now()
		for _, asked := range []struct {
			name       string
			start, end *vms.Time
		}{
			{name: "all"},
			{"since 6.3 days", vms.Ptr(now.Add(-151 * time.Hour)), vms.Ptr(now.Add(time.Hour))},
			{"a day, 9 days ago", vms.Ptr(now.Add(-216 * time.Hour)), vms.Ptr(now.Add(-192 * time.Hour))},
		} {
			q.StartGTE, q.EndLTE = asked.start, asked.end
			q.Open = asked.end != nil && asked.end.After(now)
			var line []string
			for _, how := range []string{"before", "now", "without a count"} {
				q.Counted = nil
				switch how {
				case "before":
					_, err = conn.Exec(b.Context(), "update vms_counted set actor = ''")
				case "now":
					_, err = conn.Exec(b.Context(), "update vms_counted set actor = null")
				default:
					q.Counted = new(int)
				}
				require.NoError(b, err)
				var took []float64
				until := time.Now().Add(4 * time.Second)
				for len(took) < 3 || time.Now().Before(until) && len(took) < 200 {
					began := time.Now()
					_, err := e.List(q, nil)
					if how != "before" { // which may take longer than a call may
						require.NoError(b, err)
					}
					took = append(took, float64(time.Since(began).Microseconds())/1000)
				}
				slices.Sort(took)
				line = append(line, fmt.Sprintf("%s %.1f / %.1f ms (%d)", how, took[len(took)/2],
					took[len(took)*99/100], len(took)))
			}
			tell("list of %d, %s: %s", cameras, asked.name, strings.Join(line, ", "))
		}
	}
	n := 0
	for _, size := range []int{1, 512} {
		rates := map[bool][]float64{}
		for round := range 8 {
			on := round%2 == 0
			counts(on)
			began, first := time.Now(), n
			for time.Since(began) < 3*time.Second {
				batch := make([]vms.Event, size)
				for i := range batch {
					batch[i] = event(fmt.Sprintf("a/new%03d", n%500), now(b).Add(-time.Duration(n)*time.Millisecond))
					n++
				}
				require.NoError(b, e.PutAll(batch, false))
			}
			rates[on] = append(rates[on], float64(n-first)/time.Since(began).Seconds())
		}
		counts(true)
		tell("reports by %d: before %.0f/s, now %.0f/s", size, rates[false], rates[true])
	}
	_, err = e.Forget(func(a vms.Actor) bool { return strings.HasPrefix(a.ID, "a/new") })
	require.NoError(b, err)
}

// BenchmarkSort puts the weeks of STORE_BENCH_EVENTS events in order, and counts the blocks that
// the first page of 100 of a camera's day reads before and after:
//
//	STORE_BENCH_EVENTS=2000000 go test -run '^$' -bench Sort -benchtime 1x -timeout 0 ./storage/postgres
func BenchmarkSort(b *testing.B) {
	address := postgrestest.Start(b, postgrestest.Durable).Database(b)
	for b.Loop() {
		db, err := Open(b.Context(), address, Options{Now: func() time.Time { return zero }})
		require.NoError(b, err)
		defer db.Close()
		e, err := db.Events()
		require.NoError(b, err)
		conn, err := pgx.Connect(b.Context(), address)
		require.NoError(b, err)
		defer func() { require.NoError(b, conn.Close(b.Context())) }()
		total := fill(b, e, conn, "a/cam")
		from := time.UnixMilli((weekOf(zero)-2)*week.Milliseconds() + day.Milliseconds())
		before, began := blocks(b, e, "a/cam007", from, day, 100), time.Now()
		require.NoError(b, e.sortWeeks(sortAtOnce))
		took, after := time.Since(began), blocks(b, e, "a/cam007", from, day, 100)
		load, _ := os.ReadFile("/proc/loadavg")
		fmt.Printf("| %d events | %d blocks before | %d after | %s | load %.5s |\n", total, before, after, took, load)
	}
}

// now is one time of the whole benchmark.
func now(testing.TB) time.Time { return zero }

// fill makes events of 500 cameras in turn, the oldest first, in 30 days.
func fill(b *testing.B, e *Events, conn *pgx.Conn, prefix string) int {
	total := 10_000_000
	if n, err := strconv.Atoi(os.Getenv("STORE_BENCH_EVENTS")); err == nil {
		total = n
	}
	model := event(prefix+"000", zero.AddDate(0, 0, -30))
	s, err := seal(model)
	require.NoError(b, err)
	step := 30 * day.Milliseconds() / int64(total)
	for from := 0; from < total; from += 100_000 {
		_, err := conn.Exec(b.Context(), `insert into vms_events select $1 || lpad((n % 500)::text, 3, '0'), $2::bigint + n * $3::bigint,
			$4, $4, 'camera', $2::bigint + n * $3::bigint + 1000, '', $5::bytea from generate_series($6::bigint, $7) n`,
			prefix, s.Start, step, s.Name, s.body, from, min(from+100_000, total)-1)
		require.NoError(b, err)
	}
	_, err = conn.Exec(b.Context(), "vacuum analyze vms_events")
	require.NoError(b, err)
	return total
}
