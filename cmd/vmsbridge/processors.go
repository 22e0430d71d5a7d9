package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Go's runtime shares work out among as many threads as there are processors, which wakes threads
// that find nothing. A bridge of some cameras needs a part of one: one thread then wakes the
// machine less.
const (
	lookEvery = 2 * time.Second
	// full is from which part of a processor on one thread is not enough: a picture would wait for
	// others.
	full = 0.6
	// calm is below which part one is enough again, when it has been so for calmLooks.
	calm      = 0.4
	calmLooks = 15
)

// processors decides on how many threads Go code runs.
type processors struct {
	most, now int
	quiet     int // looks in a row
}

// look is told which part of a processor was used lately, and answers how many threads there should
// be.
func (p *processors) look(use float64) int {
	switch {
	case use >= full:
		p.now, p.quiet = p.most, 0
	case use >= calm:
		p.quiet = 0
	default:
		if p.quiet++; p.quiet >= calmLooks {
			p.now = 1
		}
	}
	return p.now
}

// shareProcessors keeps the number of threads as small as does, until the returned function is
// called. Who has said a number by GOMAXPROCS gets that.
func shareProcessors(ctx context.Context) (stop func()) {
	most := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") != "" || most == 1 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&processors{most: most, now: most}).share(ctx)
	}()
	return func() { cancel(); <-done }
}

func (p *processors) share(ctx context.Context) {
	defer runtime.SetDefaultGOMAXPROCS()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	at, spent := time.Now(), ownTime()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, total := time.Now(), ownTime()
		was := p.now
		if p.look((total-spent).Seconds()/now.Sub(at).Seconds()) != was {
			runtime.GOMAXPROCS(p.now)
		}
		at, spent = now, total
	}
}

// ownTime is the time of processors that this process has used, without those that it started.
func ownTime() time.Duration {
	var t unix.Timespec
	// Not told to the scheduler, as in package rawfd: it does not wait.
	if _, _, code := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_PROCESS_CPUTIME_ID,
		uintptr(unsafe.Pointer(&t)), 0); code != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}

// garbage is how much of it waits for Go's collector, in bytes, as far as that is between the two
// shares in percent of what is in use. A bridge of 24 cameras has some 45 MB in use and makes as
// much garbage in half a minute; one of few cameras would collect its little all the time.
const (
	garbage      = 6 << 20
	leastGarbage = 12
	mostGarbage  = 50
)

// collectOften keeps the garbage small. Who has said a number by GOGC gets that.
func collectOften() {
	if os.Getenv("GOGC") == "" {
		(&collector{}).look()
	}
}

// collector sets how much garbage waits, anew after each collection.
type collector struct {
	percent int
	sample  [1]metrics.Sample
}

func (c *collector) look() {
	c.sample[0].Name = "/gc/heap/live:bytes"
	metrics.Read(c.sample[:])
	percent := garbagePercent(c.sample[0].Value.Uint64())
	if off := percent - c.percent; off > 2 || off < -2 { // it stops all threads
		c.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(c, (*collector).look)
}

func garbagePercent(live uint64) int {
	return int(min(max(garbage*100/max(live, 1), leastGarbage), mostGarbage))
}
