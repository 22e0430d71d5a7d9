package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const stillBytes = 30_000

func camera(i int) string { return fmt.Sprintf("cam-%02d", i) }

var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func noise(n int) []byte {
	p := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	return p
}

// written is what this process caused to be written to block devices so far, as the kernel counts
// dirty pages (/proc/self/io, write_bytes). The file system's own journal is not in it.
func written() int64 {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "write_bytes: "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

// benchAppend stores total bytes flat out, flushing every two seconds and at the end, each side in
// turn and that rounds times; and then deletes them.
func benchAppend(dir string, total int64, rounds int) error {
	type result struct {
		took, prune []time.Duration
		written     []float64
	}
	results := make([]result, len(sides))
	jpeg := noise(stillBytes)
	for round := range rounds {
		for i, s := range sides {
			sub := filepath.Join(dir, fmt.Sprintf("append-%d-%d", i, round))
			st, err := s.open(sub)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			from, began, flushed := written(), time.Now(), time.Now()
			n := int(total / stillBytes)
			for k := range n {
				if err := st.Append(camera(k%16), epoch.Add(time.Duration(k)*time.Second), jpeg); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				if k%64 == 0 && time.Since(flushed) > flushEvery {
					if err := st.Flush(); err != nil {
						return fmt.Errorf("%s: %w", s.name, err)
					}
					flushed = time.Now()
				}
			}
			if err := st.Flush(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			results[i].took = append(results[i].took, time.Since(began))
			results[i].written = append(results[i].written, float64(written()-from)/float64(n*stillBytes))
			began = time.Now()
			if err := st.Prune(total * 9 / 10); err == nil {
				results[i].prune = append(results[i].prune, time.Since(began))
			} else if err != errNone {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if err := st.Close(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if err := os.RemoveAll(sub); err != nil {
				return err
			}
		}
	}
	fmt.Printf("\n### Append: %d stills of %d bytes, flat out, a flush every 2 s and at the end; the best and the "+
		"median of %d rounds\n\n", total/stillBytes, stillBytes, rounds)
	fmt.Println("| side | MB/s | of the plain writer | median MB/s | of the plain writer | bytes to the device a " +
		"byte of still | deleting, ms/GB |\n|---|---:|---:|---:|---:|---:|---:|")
	plain, best := time.Duration(0), time.Duration(0)
	if i := slices.IndexFunc(sides, func(s contender) bool { return s.name == "plain writer" }); i >= 0 {
		plain, best = median(results[i].took), slices.Min(results[i].took)
	}
	for i, s := range sides {
		took := median(results[i].took)
		prune := "–"
		if len(results[i].prune) > 0 {
			prune = fmt.Sprintf("%.1f", median(results[i].prune).Seconds()*1e3/(float64(total)*0.9/1e9))
		}
		least := slices.Min(results[i].took)
		fmt.Printf("| %s | %.0f | %.2f | %.0f | %.2f | %.4f | %s |\n", s.name, float64(total)/1e6/least.Seconds(),
			best.Seconds()/least.Seconds(), float64(total)/1e6/took.Seconds(), plain.Seconds()/took.Seconds(),
			median(results[i].written), prune)
	}
	return nil
}

func median[T int64 | float64 | time.Duration](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
