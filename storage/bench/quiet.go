package main

import (
	"fmt"
	"path/filepath"
	"time"

	"vmsbridge/storage/stills"
)

// segmentBytes is the size of a segment by default.
const segmentBytes = 16 << 20

// benchQuiet has the ring take stills at the pace of a site, and counts what goes to the device: at a slow pace the last page
// of a flush is written twice, whatever the store.
func benchQuiet(dir string, span time.Duration) error {
	fmt.Printf("\n### Bytes to the device at a site's pace, flushed every 2 s, or 6 s where little waits\n\n")
	fmt.Println("| stills | bytes a second | for | bytes to the device a byte of still | the ring's own count of it |\n|---|---:|---:|---:|---:|")
	jpeg := noise(stillBytes)
	for i, every := range []time.Duration{625 * time.Millisecond, 100 * time.Millisecond, 5 * time.Millisecond} {
		// Long enough that beginning and ending a segment do not count more than they do in a full one.
		span := max(span, span/60*time.Duration(segmentBytes*int64(every)/stillBytes/int64(time.Second)))
		r, err := stills.Open(filepath.Join(dir, fmt.Sprint("quiet-", i)), stills.Options{MaxBytes: 1 << 30, FlushEvery: flushEvery, MinFree: -1})
		if err != nil {
			return err
		}
		from, n, next := written(), 0, time.Now()
		for end := next.Add(span); next.Before(end); n++ {
			if err := r.Append(stills.Still{Camera: camera(n % 16), Kind: stills.Preview, Time: next, JPEG: jpeg}); err != nil {
				return err
			}
			next = next.Add(every)
			time.Sleep(time.Until(next))
		}
		if err := r.Close(); err != nil {
			return err
		}
		bytes := float64(n * stillBytes)
		fmt.Printf("| one in %s | %.0f | %s | %.4f | %.4f |\n", every, bytes/span.Seconds(), span.Round(time.Second), float64(written()-from)/bytes, float64(r.Stats().WrittenBytes)/bytes)
	}
	return nil
}
