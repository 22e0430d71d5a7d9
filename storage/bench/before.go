package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// smallBytes is a still in the fill of millions; the disk would not hold them otherwise. What is
// appended meanwhile has the full size.
const smallBytes = 256

const (
	// fillFor is how long a side has to take the millions; what it has not taken by then, it is not
	// asked for.
	fillFor = 25 * time.Second
	// fillLeast is how many stills it is given in any case.
	fillLeast = 100_000
	// newest is how many of the latest stills the questions of one row are for: those of events
	// that were just now.
	newest = 10_000
	// flushBytes bounds what a side may hold back under load: a transaction of two seconds flat out
	// takes gigabytes of memory.
	flushBytes = 64 << 20
)

// benchBefore fills each side with n stills of 16 cameras, and asks for one before a random time,
// again and again, while nothing, 20 MB/s or as much as the side can take is appended.
func benchBefore(dir string, n int, span time.Duration) error {
	fmt.Printf("\n### Before, among %d stills, or as many as the side took in %s\n\n", n, fillFor)
	fmt.Println("| side | stills | load | asked for | questions | p50 µs | p99 µs | p99.9 µs | worst µs | appended " +
		"MB/s |\n|---|---:|---|---|---:|---:|---:|---:|---:|---:|")
	for i, s := range sides {
		if s.name == "plain writer" {
			continue
		}
		sub := filepath.Join(dir, fmt.Sprintf("before-%d", i))
		open := s.open
		if s.name == "ring" { // as many segments as 100 GB have
			open = func(dir string) (side, error) {
				return openRingOf(dir, max(int64(n)*(smallBytes+64)/4096&^4095, 64<<10))
			}
		}
		n, err := fill(sub, n, open)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, q := range []question{{0, n}, {20e6, n}, {20e6, newest}, {-1, n}} {
			if err := ask(sub, s.name, n, q, span, s.open); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		if err := os.RemoveAll(sub); err != nil {
			return err
		}
	}
	return nil
}

// question is what is appended meanwhile (bytes a second, -1: all that goes), and of how many of
// the newest stills the times are.
type question struct{ load, of int }

// fill appends n stills, or fewer where it takes too long, and says how many.
func fill(dir string, n int, open func(string) (side, error)) (filled int, err error) {
	st, err := open(dir)
	if err != nil {
		return 0, err
	}
	jpeg, began := noise(smallBytes), time.Now()
	for ; filled < n; filled++ {
		if err := st.Append(camera(filled%16), epoch.Add(time.Duration(filled)*time.Second), jpeg); err != nil {
			return 0, err
		}
		if filled%20_000 == 0 {
			if err := st.Flush(); err != nil {
				return 0, err
			}
			if filled >= fillLeast && time.Since(began) > fillFor {
				break
			}
		}
	}
	if err := st.Flush(); err != nil {
		return 0, err
	}
	return filled, st.Close()
}

func ask(dir, name string, n int, q question, span time.Duration, open func(string) (side, error)) error {
	st, err := open(dir)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	var appended int64
	var loadErr error
	began := time.Now()
	if q.load != 0 {
		wait.Go(func() { appended, loadErr = push(st, q.load, stop) })
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	for time.Since(began) < span {
		at := epoch.Add(time.Duration(100+n-q.of+rng.IntN(q.of-100)) * time.Second)
		from := time.Now()
		got, jpeg, err := st.Before(camera(rng.IntN(16)), at)
		took = append(took, time.Since(from))
		if err != nil {
			return err
		}
		if len(jpeg) != smallBytes || at.Sub(got) > 16*time.Second {
			return fmt.Errorf("asked before %s, got %d bytes of %s", at, len(jpeg), got)
		}
	}
	close(stop)
	wait.Wait()
	seconds := time.Since(began).Seconds()
	if loadErr != nil {
		return loadErr
	}
	slices.Sort(took)
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Nanoseconds()) / 1e3 }
	word := map[int]string{0: "none", 20e6: "20 MB/s", -1: "flat out"}[q.load]
	of := "any"
	if q.of < n {
		of = fmt.Sprintf("the newest %d", q.of)
	}
	fmt.Printf("| %s | %d | %s | %s | %d | %.0f | %.0f | %.0f | %.0f | %.0f |\n", name, n, word, of, len(took), at(0.5),
		at(0.99), at(0.999), at(1), float64(appended)/1e6/seconds)
	return st.Close()
}

// push appends stills until stop, so many bytes a second, or as many as it can.
func push(st side, rate int, stop chan struct{}) (appended int64, err error) {
	jpeg := noise(stillBytes)
	start := time.Now()
	began, flushed, held := start, start, 0
	for k := 0; ; k++ {
		select {
		case <-stop:
			return appended, st.Flush()
		default:
		}
		if err := st.Append("load", start.Add(time.Duration(k)), jpeg); err != nil {
			return appended, err
		}
		appended += stillBytes
		if held += stillBytes; held > flushBytes || time.Since(flushed) > flushEvery {
			if err := st.Flush(); err != nil {
				return appended, err
			}
			flushed, held = time.Now(), 0
		}
		if rate > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(float64(appended) / float64(rate) * 1e9))))
		}
	}
}
