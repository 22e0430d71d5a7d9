package main

import (
	"context"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/avcodec"
	"vmsbridge/scripts/lab/movie"
)

// alone is libavcodec by itself: the same access units, at their times, as many decoders as there
// are cameras. Counted is the time of processors within its calls, with the caches that it finds
// while the others are at work.
type alone struct{ nanoseconds atomic.Int64 }

func (a *alone) spent() time.Duration { return time.Duration(a.nanoseconds.Load()) }

// decodeAlone goes on until ctx ends. The library is the one that comes with bridge, a program, if
// there is one.
func decodeAlone(ctx context.Context, bridge string, s *stream, n int) (*alone, error) {
	lib, err := avcodec.Open([]string{filepath.Join(filepath.Dir(bridge), "..", "lib", "vmsbridge")})
	if err != nil {
		return nil, err
	}
	codec := map[string]avcodec.Codec{movie.H264: avcodec.H264, movie.H265: avcodec.H265}[s.movie.Codec]
	decoders := make([]*avcodec.Decoder, n)
	for i := range decoders {
		if decoders[i], err = lib.NewDecoder(codec, false); err != nil {
			return nil, err
		}
	}
	var units [][]byte
	for _, u := range s.movie.Units {
		units = append(units, annexB(u))
	}
	a := &alone{}
	go func() {
		runtime.LockOSThread() // whose time is read
		defer runtime.UnlockOSThread()
		tick := time.NewTicker(time.Second / time.Duration(s.movie.Rate*n))
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			before := threadTime()
			frames, _ := decoders[i%n].Decode(units[i/n%len(units)], int64(i))
			for _, f := range frames {
				f.Close()
			}
			a.nanoseconds.Add(threadTime() - before)
		}
	}()
	return a, nil
}

func threadTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return t.Nano()
}
