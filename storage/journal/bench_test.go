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
	"golang.org/x/sys/unix"

	"vmsbridge/storage/journal/sample"
)

// go test -run '^$' -bench Put -benchtime 2s ./storage/journal
//
// side=fsync is the floor: 4 KiB appended to a file beside the journal, and fdatasync. Both are
// done in turn, so that what else the machine does hits both.
func BenchmarkPut(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			path := sample.Path(b)
			j := open(b, path, Options{})
			took := map[string][]time.Duration{}
			var mu sync.Mutex
			var n atomic.Int64
			var wg sync.WaitGroup
			turn := newTurns(writers) // the writers of one side do not run beside those of the other
			b.ResetTimer()
			for w := range writers {
				f, err := os.Create(filepath.Join(filepath.Dir(path), fmt.Sprint("plain", w)))
				require.NoError(b, err)
				wg.Go(func() {
					defer f.Close()
					body := make([]byte, 4096)
					for {
						i := n.Add(1)
						began := time.Now()
						_, err := f.Write(body)
						if err == nil {
							err = unix.Fdatasync(int(f.Fd()))
						}
						plain := time.Since(began)
						turn.wait()
						began = time.Now()
						if err == nil {
							err = j.Put(sample.Event(fmt.Sprint("cam", w), time.Duration(i)*time.Second,
								time.Duration(i+1)*time.Second), true)
						}
						put := time.Since(began)
						if err != nil {
							b.Error(err)
						}
						mu.Lock()
						took["fsync"] = append(took["fsync"], plain)
						took["put"] = append(took["put"], put)
						mu.Unlock()
						turn.wait()
						if n.Load() >= int64(b.N) {
							return
						}
						turn.wait() // nobody counts on before all have looked
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(0, "ns/op")
			for side, list := range took {
				slices.Sort(list)
				b.ReportMetric(float64(list[len(list)/2].Microseconds()), side+"-p50-µs")
				b.ReportMetric(float64(list[len(list)*99/100].Microseconds()), side+"-p99-µs")
			}
		})
	}
}

// turns lets n goroutines go on together.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	n    int
	here int
	turn int
}

func newTurns(n int) *turns {
	t := &turns{n: n}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// wait returns when all have called it.
func (t *turns) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.turn
	if t.here++; t.here == t.n {
		t.here = 0
		t.turn++
		t.cond.Broadcast()
		return
	}
	for turn == t.turn {
		t.cond.Wait()
	}
}

func reportQuantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	if len(took) == 0 {
		return
	}
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
