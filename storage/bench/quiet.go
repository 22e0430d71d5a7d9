package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"vmsbridge/storage/stills"
)

// pace is a site's: so many stills a second, of 30 000 bytes on the average, as pictures differ.
type pace struct {
	every, span time.Duration
}

// counted is what went to the device for so many bytes of stills.
type counted struct {
	Seconds, Bytes, Device, Ring float64
}

// benchQuiet has the ring take stills at the pace of a site, and counts what goes to the device.
// The paces run side by side, each in a process of its own, for the kernel counts by process; bytes
// do not mind what else goes on.
func benchQuiet(dir string, span time.Duration) error {
	fmt.Printf("\n### Bytes to the device at a site's pace, flushed every 2 s, or 6 s where little waits\n\n")
	fmt.Println("| stills | bytes a second | after | bytes to the device a byte of still | the ring's own count of " +
		"it |\n|---|---:|---:|---:|---:|")
	paces := []pace{{625 * time.Millisecond, span * 5 / 2}, {100 * time.Millisecond, span},
		{5 * time.Millisecond, span}}
	var children []*exec.Cmd
	var answers []*json.Decoder
	for i, p := range paces {
		c := exec.Command(os.Args[0], "-child-quiet", filepath.Join(dir, fmt.Sprint("quiet-", i)), "-every",
			p.every.String(), "-for", p.span.String())
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		children, answers = append(children, c), append(answers, json.NewDecoder(out))
	}
	for i, p := range paces {
		for answers[i].More() {
			var n counted
			if err := answers[i].Decode(&n); err != nil {
				return err
			}
			fmt.Printf("| one in %s | %.0f | %.0f s | %.4f | %.4f |\n", p.every, n.Bytes/n.Seconds, n.Seconds,
				n.Device/n.Bytes, n.Ring/n.Bytes)
		}
		if err := children[i].Wait(); err != nil {
			return fmt.Errorf("stills at a pace of one in %s: %w", p.every, err)
		}
	}
	return nil
}

// childQuiet stores stills at a pace, and says what that wrote: after two fifths of the time, where
// it is a longer one, and at the end, with the ring closed.
func childQuiet(dir string, p pace) error {
	r, err := stills.Open(dir, stills.Options{MaxBytes: 1 << 30, FlushEvery: flushEvery, MinFree: -1})
	if err != nil {
		return err
	}
	jpeg, rng := noise(stillBytes*5/4), rand.New(rand.NewPCG(3, 4))
	from, began, bytes := written(), time.Now(), 0
	tell := func() error {
		return json.NewEncoder(os.Stdout).Encode(counted{time.Since(began).Seconds(), float64(bytes),
			float64(written() - from), float64(r.Stats().WrittenBytes)})
	}
	early := began.Add(p.span * 2 / 5)
	for n, next := 0, began; next.Before(began.Add(p.span)); n++ {
		size := stillBytes*3/4 + rng.IntN(stillBytes/2)
		if err := r.Append(stills.Still{Camera: camera(n % 16), Kind: stills.Preview, Time: next,
			JPEG: jpeg[:size]}); err != nil {
			return err
		}
		bytes += size
		next = next.Add(p.every)
		time.Sleep(time.Until(next))
		if next.After(early) && !next.Add(-p.every).After(early) && p.every > 500*time.Millisecond {
			if err := r.Flush(); err != nil {
				return err
			}
			if err := tell(); err != nil {
				return err
			}
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	return tell()
}
