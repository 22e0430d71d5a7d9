package clock

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestClockTrueFromTheStart(t *testing.T) {
	b := newBench(t, &hand{synced: true, id: "a"})
	b.start()
	require.True(t, b.isTrue())
	b.pass(time.Minute)
	b.within(0)
	require.Empty(t, b.steps)
	require.Equal(t, Kernel, b.c.State().Source)
}

func TestBootIn1970ThenNTP(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Minute)
	require.False(t, b.isTrue())
	require.NotEmpty(t, b.c.Problem())
	require.NotZero(t, b.c.State().Era)
	b.sync()
	b.pass(time.Minute)
	require.True(t, b.isTrue())
	require.Empty(t, b.c.Problem())
	b.within(time.Millisecond)
	require.Len(t, b.steps, 1)
	require.Positive(t, b.steps[0].Events)
}

func TestStaleBootThenSetByHand(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", truth0.AddDate(0, 0, -3))
	b.pass(time.Minute)
	b.set(truth0.Add(b.h.up)) // date -s, ntpdate: the kernel never says that it is synchronised
	b.pass(20 * time.Second)
	require.False(t, b.isTrue(), "it may be set again")
	b.pass(20 * time.Second)
	require.True(t, b.isTrue())
	require.Equal(t, Set, b.c.State().Source)
	b.within(time.Millisecond)
}

// A step to a year before the program was built makes nothing true.
func TestSetToNonsense(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", time.Unix(30, 0))
	b.set(truth0.AddDate(-3, 0, 0))
	b.pass(time.Hour)
	require.False(t, b.isTrue())
	require.Contains(t, b.c.Problem(), "2023-11-21")
	b.sync()
	b.pass(time.Second)
	b.within(time.Millisecond)
}

// A clock that was true goes on being so, whatever is done to the wall clock, until the kernel
// vouches for another time.
func TestStepsWhileRunning(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 48 * time.Hour, -2 * time.Second,
		700 * time.Millisecond} {
		b := newBench(t, &hand{synced: true, id: "a"})
		b.start()
		b.pass(time.Minute)
		b.set(truth0.Add(b.h.up + by))
		b.pass(time.Minute)
		b.sync()
		b.pass(time.Minute)
		b.within(time.Millisecond)
	}
}

// An hour wrong from the boot on, either way, and then right.
func TestAnHourWrong(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 300 * time.Millisecond, -300 * time.Millisecond} {
		b := newBench(t, &hand{})
		b.boot("a", truth0.Add(by))
		b.pass(time.Minute)
		b.sync()
		b.pass(time.Minute)
		b.within(time.Millisecond)
	}
}

// The kernel vouched for a time an hour off, and then for the right one: what comes after is right,
// what came before stays.
func TestTheKernelChangesItsMind(t *testing.T) {
	b := newBench(t, &hand{synced: true, id: "a", wrong: time.Hour})
	b.start()
	b.pass(time.Minute)
	n := len(b.events)
	b.sync()
	b.pass(time.Minute)
	for _, r := range b.events[n:] {
		require.Equal(t, r.truth, r.at)
	}
	require.Len(t, b.steps, 1)
}

// The boot clock is a quarz, 200 ppm off either way, and the wall clock is kept right.
func TestDriftOverHours(t *testing.T) {
	for _, drift := range []float64{200e-6, -200e-6} {
		b := newBench(t, &hand{synced: true, id: "a", drift: drift})
		b.start()
		b.pass(3 * time.Hour)
		b.within(5 * time.Millisecond)
	}
}

// The time is not known for three hours, and the oscillator is 200 ppm off: 2.2 s in the end. Its
// rate is known from before.
func TestDriftOverHoursWithoutTheTime(t *testing.T) {
	for _, drift := range []float64{200e-6, -200e-6} {
		b := newBench(t, &hand{synced: true, id: "z", drift: drift})
		b.start()
		b.pass(70 * time.Minute)
		b.c.remember(true)
		b.h.up += 10 * time.Minute
		b.boot("a", time.Unix(30, 0))
		b.pass(2 * time.Hour)
		b.h.up += 10 * time.Minute // the bridge is not there, the machine is
		b.start()
		b.pass(time.Hour)
		require.False(t, b.isTrue())
		b.sync()
		b.pass(time.Minute)
		b.within(20 * time.Millisecond)
	}
}

// Linux repeats the last second of the day (STA_INS); others let the clock go slower for a day.
func TestLeapSecond(t *testing.T) {
	b := newBench(t, &hand{synced: true, id: "a"})
	b.start()
	b.pass(10 * time.Second)
	b.h.mu.Lock()
	b.h.wrong -= time.Second
	b.h.mu.Unlock()
	leap := truth0.Add(b.h.up) // the truth goes on from here a second later
	b.c.look()
	var last time.Time
	for range 400 { // ten milliseconds each
		b.h.mu.Lock()
		b.h.up += 10 * time.Millisecond
		b.h.mu.Unlock()
		at := b.c.True(b.c.Now())
		require.True(t, at.After(last))
		last = at
		truth := truth0.Add(b.h.up - time.Second)
		if truth.Before(leap) {
			truth = leap // it is 23:59:60, which no time of ours can say
		}
		require.LessOrEqual(t, at.Sub(truth).Abs(), 60*time.Millisecond)
	}
	require.Equal(t, truth0.Add(b.h.up-time.Second), last)
}

func TestSmearedLeapSecond(t *testing.T) {
	b := newBench(t, &hand{synced: true, id: "a"})
	b.start()
	for range 24 * 60 * 6 { // ten seconds each
		b.h.mu.Lock()
		b.h.wrong -= time.Second / (24 * 60 * 6)
		b.h.up += 10 * time.Second
		b.h.mu.Unlock()
		b.c.look()
		require.InDelta(t, 0, b.c.True(b.c.Now()).Sub(b.h.Read().Wall).Seconds(), 0.001)
	}
}

// Two boots with untrue times, and then a true one.
func TestTwoBootsBeforeTheTruth(t *testing.T) {
	b := newBench(t, &hand{synced: true, id: "z"})
	b.start()
	b.pass(20 * time.Minute)
	b.c.remember(true) // else up to ten minutes earlier
	trueUntil := len(b.events)
	b.h.up += 2 * time.Hour
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Minute)
	first := len(b.events)
	b.h.up += 10 * time.Second // the power was away for so long
	b.boot("b", time.Unix(30, 0))
	require.Len(t, b.c.ledger.Open, 1)
	b.pass(30 * time.Second)
	b.c.remember(true)
	b.start() // the process, not the machine
	b.pass(30 * time.Second)
	for i := 1; i < len(b.events); i++ {
		require.True(t, b.events[i].at.After(b.events[i-1].at), "in order even before they are put right")
	}
	b.sync()
	b.pass(time.Minute)
	require.True(t, b.isTrue())
	worst := b.worst()
	require.LessOrEqual(t, worst, 10*time.Second)
	for i, r := range b.events {
		err := r.at.Sub(r.truth)
		if i < trueUntil || i >= first {
			require.LessOrEqual(t, err.Abs(), time.Millisecond)
			require.Nil(t, r.note)
			continue
		}
		require.NotNil(t, r.note)
		require.LessOrEqual(t, err, 10*time.Second, "as late as can be: off by what the power was away")
		require.GreaterOrEqual(t, err, time.Duration(0))
		require.False(t, r.note.SameClock)
		require.InDelta(t, 2*time.Hour, r.note.Slack, float64(20*time.Minute))
	}
	require.Equal(t, first-trueUntil, b.c.State().Unplaced)
}

// A clock with a battery that was never set right is wrong by the same in both boots.
func TestTwoBootsOfOneWrongClock(t *testing.T) {
	b := newBench(t, &hand{synced: true, id: "z"})
	b.start()
	b.pass(time.Minute)
	b.c.remember(true)
	const wrong = 5 * time.Hour
	b.h.up += time.Hour
	b.boot("a", truth0.Add(b.h.up+wrong))
	b.pass(time.Minute)
	b.h.up += time.Hour
	b.boot("b", truth0.Add(b.h.up+wrong))
	b.pass(time.Minute)
	b.sync()
	b.pass(time.Second)
	require.True(t, b.isTrue())
	b.within(time.Millisecond)
	require.NotZero(t, b.c.State().Unplaced)
}

// answer is one of the service.
func answer(date time.Time, secure bool) *http.Response {
	res := &http.Response{Header: http.Header{"Date": {date.UTC().Format(http.TimeFormat)}}}
	if secure {
		res.TLS = &tls.ConnectionState{HandshakeComplete: true}
	}
	return res
}

func (b *bench) hear(truth time.Time, secure bool) {
	b.c.hear(answer(truth, secure), b.h.Boot()-20*time.Millisecond, b.h.Boot())
}

// Nothing vouches for a plausible clock: it is believed when the service has been answering for
// long enough, not before.
func TestAPlausibleClockIsBelievedInTheEnd(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", truth0)
	b.pass(time.Hour)
	require.False(t, b.isTrue(), "the service is away: nothing is lost by waiting")
	b.hear(truth0.Add(b.h.up).AddDate(0, 0, 1), false) // what anyone could say
	b.pass(9 * time.Minute)
	require.False(t, b.isTrue())
	b.pass(2 * time.Minute)
	require.True(t, b.isTrue())
	require.Equal(t, Assumed, b.c.State().Source)
	b.within(0)
	b.set(truth0.Add(b.h.up + time.Hour)) // by hand
	b.pass(time.Minute)
	require.Len(t, b.steps, 1)
	require.Equal(t, truth0.Add(b.h.up+time.Hour), b.c.True(b.c.Now()))
}

// A plausible clock that the service bears out is believed with its first answer, be it encrypted
// or not: a machine without NTP whose clock is right reports at once. One that the service does not
// bear out is not.
func TestAPlausibleClockIsBelievedWhenTheServiceShowsTheSame(t *testing.T) {
	for _, secure := range []bool{false, true} {
		b := newBench(t, &hand{})
		b.boot("a", truth0)
		b.pass(time.Minute)
		require.False(t, b.isTrue())
		b.hear(truth0.Add(b.h.up), secure)
		b.pass(time.Second)
		require.True(t, b.isTrue())
		require.Equal(t, Agreed, b.c.State().Source)
		b.within(0)

		b = newBench(t, &hand{})
		b.boot("a", truth0.Add(-time.Minute))
		b.hear(truth0.Add(b.h.up), secure)
		b.pass(5 * time.Minute)
		require.False(t, b.isTrue())
		b.sync()
		b.pass(time.Second)
		require.Equal(t, Kernel, b.c.State().Source)
	}
}

// Without a service nobody would ever vouch for the clock: a plausible one is believed a minute
// after the boot, and at once where the machine has been running for longer. What is said until
// then blames no service.
func TestAPlausibleClockWithoutAService(t *testing.T) {
	b := newBench(t, &hand{})
	b.opts.Alone = true
	b.boot("a", truth0)
	b.pass(55 * time.Second)
	require.False(t, b.isTrue(), "NTP may still come")
	require.Contains(t, b.c.Problem(), "has not been running for 1m0s")
	require.NotContains(t, b.c.Problem(), "service")
	b.pass(10 * time.Second)
	require.True(t, b.isTrue())
	require.Equal(t, Assumed, b.c.State().Source)
	require.Empty(t, b.c.Problem())
	b.within(0)

	b = newBench(t, &hand{up: 5 * time.Hour, id: "a"})
	b.opts.Alone = true
	b.start()
	require.True(t, b.isTrue(), "the machine runs for hours")
	require.Zero(t, b.c.State().Era)

	b = newBench(t, &hand{kept: true})
	b.opts.Alone = true
	b.boot("a", truth0)
	require.True(t, b.isTrue(), "a battery has kept the time")
	require.Equal(t, Assumed, b.c.State().Source)
	b.set(truth0.Add(b.h.up + time.Hour)) // by a person, who knows better
	b.pass(time.Minute)
	require.Equal(t, Set, b.c.State().Source)

	b = newBench(t, &hand{kept: true})
	b.opts.Alone = true
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Hour)
	require.False(t, b.isTrue(), "the battery is empty")

	b = newBench(t, &hand{})
	b.opts.Alone = true
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Hour)
	require.False(t, b.isTrue(), "not 1970")
	require.NotContains(t, b.c.Problem(), "service")
	b.set(truth0.Add(b.h.up)) // by hand
	b.pass(20 * time.Second)
	require.False(t, b.isTrue(), "it may be set again")
	b.pass(20 * time.Second)
	require.True(t, b.isTrue())
	require.Equal(t, Set, b.c.State().Source)
	b.within(time.Millisecond)
}

func TestAPlausibleClockIsBelievedAtOnceWhereNobodyWaits(t *testing.T) {
	b := newBench(t, &hand{})
	b.opts.Wait = 0
	b.boot("a", truth0)
	require.True(t, b.isTrue())
	require.Zero(t, b.c.State().Era)
	c := newBench(t, &hand{})
	c.opts.Wait = 0
	c.boot("a", time.Unix(0, 0))
	c.pass(time.Hour)
	require.False(t, c.isTrue(), "not 1970")
}

// The service says that a clock is three days late, and nothing else does: its word is taken, to
// within what a Date can say.
func TestByTheServicesWord(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", truth0.AddDate(0, 0, -3))
	for i := range 20 {
		b.h.up += time.Duration(i*37) * time.Millisecond
		b.hear(truth0.Add(b.h.up), true)
		b.pass(time.Minute)
		if i < 8 {
			require.False(t, b.isTrue())
		}
	}
	require.True(t, b.isTrue())
	require.Equal(t, Service, b.c.State().Source)
	b.within(500 * time.Millisecond)
	// Over plain HTTP anyone could say so.
	b = newBench(t, &hand{})
	b.boot("a", truth0.Add(-time.Minute))
	for range 20 {
		b.hear(truth0.Add(b.h.up).AddDate(1, 0, 0), false)
		b.pass(time.Minute)
	}
	require.Equal(t, Assumed, b.c.State().Source)
}

// A disk that is full when the clock becomes true is tried again, and nothing gets out meanwhile.
func TestSettlingFailsAtFirst(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Minute)
	b.sync()
	b.fail = context.DeadlineExceeded
	b.pass(10 * time.Second)
	require.False(t, b.isTrue())
	b.fail = nil
	b.pass(10 * time.Second)
	require.True(t, b.isTrue())
	b.within(time.Millisecond)
}

// The process ends right after it has noted that it settles: the next one does it.
func TestSettlingIsCutOff(t *testing.T) {
	b := newBench(t, &hand{})
	b.boot("a", time.Unix(30, 0))
	b.pass(time.Minute)
	b.c.ledger.Settling = []settling{{Era: b.c.ledger.Era, Shift: truth0.Add(b.h.up).Sub(b.c.Now())}}
	require.NoError(t, b.c.save())
	b.start()
	require.True(t, b.isTrue())
	b.pass(time.Minute)
	b.within(time.Millisecond)
	b.start() // and a restart in a true boot, whose wall clock is still wrong
	b.pass(time.Minute)
	b.within(time.Millisecond)
}

func TestRunAndWait(t *testing.T) {
	defer goleak.VerifyNone(t)
	b := newBench(t, &hand{})
	b.opts.Every, b.opts.Registerer = time.Millisecond, prometheus.NewRegistry()
	b.boot("a", time.Unix(30, 0))
	ctx, cancel := context.WithCancel(t.Context())
	short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
	defer stop()
	require.ErrorIs(t, b.c.Wait(short), context.DeadlineExceeded)
	done := make(chan error, 1)
	go func() { done <- b.c.Run(ctx) }()
	b.h.mu.Lock()
	b.h.wrong, b.h.synced = 0, true
	b.h.mu.Unlock()
	require.NoError(t, b.c.Wait(ctx))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

func TestSystem(t *testing.T) {
	m := System()
	a, b := m.Read(), m.Read()
	require.WithinDuration(t, time.Now(), a.Wall, time.Second)
	require.GreaterOrEqual(t, b.Boot, a.Boot)
	require.NotEmpty(t, m.BootID())
	require.False(t, Built().IsZero())
	require.True(t, Built().Before(time.Now()))
}

func TestKept(t *testing.T) {
	dir := t.TempDir()
	require.False(t, kept(dir), "a box without such a clock")
	set := func(name, said string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "hctosys"), []byte(said+"\n"), 0o600))
	}
	set("rtc0", "0")
	require.False(t, kept(dir), "it was not read at the boot")
	set("rtc1", "1")
	require.True(t, kept(dir))
}
