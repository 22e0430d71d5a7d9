package clock

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Source is why the clock counts as true.
type Source string

// The sources, the better ones first.
const (
	Waiting Source = ""        // it does not, yet
	Kernel  Source = "kernel"  // the kernel says that it is synchronised
	Set     Source = "set"     // it was set to a plausible time, and has run since
	Agreed  Source = "agreed"  // it is plausible, and the service shows the same, to about a second
	Service Source = "service" // by the Date of the service's answers, to about a second
	Assumed Source = "assumed" // nothing speaks against it
)

// Options of New. Machine and Log must be set.
type Options struct {
	Machine Machine
	// Wait is how long the service must have been answering before a clock that nothing vouches for
	// is believed. 0: a plausible one is believed at once.
	Wait time.Duration
	// Alone says that there is no service whose time could bear the machine's out: a plausible
	// clock is believed at once if the machine keeps the time while it is off, and else when it has
	// been running for a minute, which is what NTP takes after a boot, or for Wait, if that is
	// shorter.
	Alone bool
	// Built is when the program was built: no true time is before it.
	Built time.Time
	// Every is how often the machine's clock is looked at; 0 means every second where the kernel
	// tells of steps and the clock is true, and else 50 ms, which is how long a step of a true
	// clock, a leap second say, may go unnoticed then.
	Every time.Duration
	// Settle is how long a clock that was set must have run without another step; 0 means half a
	// minute.
	Settle time.Duration
	// Stepped is told of each change of the true time by more than a second, from the goroutine of
	// Run or Open. Nil is told nothing.
	Stepped    func(Step)
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Step is a change of what the bridge takes for the true time.
type Step struct {
	At     time.Time     // the new time
	By     time.Duration // how much later it is than the old one
	Source Source
	Events int // that got other times by it
}

// Clock is the time. Now, True, Back, Stamp, State, Wait and Transport are safe for concurrent use.
type Clock struct {
	opts Options
	m    Machine
	log  *slog.Logger

	memory Memory
	stores Stores
	ledger ledger // of Run's goroutine, and of Open's before

	baseMu sync.Mutex // guards base
	base   time.Duration

	mu       sync.RWMutex // guards those below; held for a few instructions, never across I/O
	scale    scale
	era      uint32
	source   Source
	since    time.Time
	lastStep Step
	beside   time.Duration
	steps    int
	unplaced int
	unmoved  bool // some records are still of an era that is over: jobs
	whyNot   string

	heardMu sync.Mutex // guards these
	heard   bool
	heardAt time.Duration // boot time of the service's first answer
	dates   bounds        // of a service whose certificate was verified
	// anyDates are those of any answer: no time is taken from them, but they may bear out the
	// machine's.
	anyDates bounds

	// Of Run's goroutine.
	looked   bool
	off      time.Duration // of the wall clock to the boot time, when it was looked at last
	stepAt   time.Duration // boot time of its last step
	stepped  bool
	lookedAt time.Duration
	savedAt  time.Duration
	rating   rating
	jobs     []job
	retryAt  time.Duration // boot time before which a store that refused a piece of a job is not asked again
	placed   time.Time     // the beginning of the earlier era that was placed last
	// knownBefore is the latest time that was known to be true before this run.
	knownBefore time.Time

	open chan struct{} // closed when the clock is true
}

// New makes a clock whose scale begins at the machine's wall clock. It starts nothing; Now may be
// used at once.
func New(o Options) *Clock {
	if o.Settle == 0 {
		o.Settle = 30 * time.Second
	}
	r := o.Machine.Read()
	c := &Clock{opts: o, m: o.Machine, log: o.Log, base: sinceEpoch(r.Wall) - r.Boot, open: make(chan struct{})}
	c.register(o.Registerer)
	return c
}

func sinceEpoch(t time.Time) time.Duration { return time.Duration(t.UnixNano()) }

// Now is this moment on the scale, in UTC.
func (c *Clock) Now() time.Time { return c.moment(c.m.Boot()) }

// moment is a boot time on the scale.
func (c *Clock) moment(boot time.Duration) time.Time {
	c.baseMu.Lock()
	defer c.baseMu.Unlock()
	return time.Unix(0, int64(boot+c.base)).UTC()
}

// True is the true time of a moment of the scale, as far as it is known now.
func (c *Clock) True(t time.Time) time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.scale.at(t)
}

// Back is the moment of the scale that belongs to a true time, as far as the latest step goes.
func (c *Clock) Back(t time.Time) time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return t.Add(-c.scale.by())
}

// Stamp is what gives a moment's true time, as far as it is known now, and the era that such times
// are of: 0 if they are true, else one that has to be noted with the record. It never waits for a
// disk, and neither needs to hurry nor to lock: the stores know by how much an era was wrong as
// soon as that is known (Stores.Announce), and put right what they are given of it later.
func (c *Clock) Stamp() (at func(time.Time) time.Time, era uint32) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := c.scale // its knots are only ever appended to, or replaced
	return s.at, c.era
}

// Wait returns when the clock is true and everything has its right time, or when ctx is done, with
// its error.
func (c *Clock) Wait(ctx context.Context) error {
	select {
	case <-c.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// State is a snapshot.
type State struct {
	Source   Source    // why the clock is true; Waiting
	Since    time.Time // when it became true, or when the bridge started
	WhyNot   string    // for a person, while it is not true
	Era      uint32    // of what is recorded now, 0 if the clock is true
	Steps    int       // changes of the time by more than a second since the start
	LastStep Step      // zero if there was none
	// Beside is by how much the machine's clock is ahead of the time that the bridge goes by,
	// because it was set and nothing vouches for that; 0 if it is not.
	Beside   time.Duration
	Unplaced int  // events of boots that ended without a true time; they are placed roughly
	Unmoved  bool // the clock is true, and some records of before have not got their right times yet
}

// State says how the clock is.
func (c *Clock) State() State {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := State{Source: c.source, Since: c.since, Era: c.era, Steps: c.steps, LastStep: c.lastStep, Unplaced: c.unplaced,
		Unmoved: c.unmoved, Beside: c.beside}
	if c.source == Waiting {
		s.WhyNot = c.whyNot
	}
	return s
}

// Problem is a sentence for a person who looks why no events come, "" if the clock is true.
func (c *Clock) Problem() string {
	if s := c.State(); s.Source == Waiting {
		return "the clock is not known to be true, events wait: " + s.WhyNot
	}
	return ""
}

// How often the machine's clock is looked at, unless Options say it.
const (
	lookOften  = 50 * time.Millisecond
	lookSeldom = time.Second
)

// Run looks at the machine's clock until ctx is done.
func (c *Clock) Run(ctx context.Context) error {
	var steps <-chan struct{} // nil: nobody tells
	if m, ok := c.m.(interface {
		Steps(context.Context) <-chan struct{}
	}); ok {
		steps = m.Steps(ctx)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		c.look()
		wait := cmp.Or(c.opts.Every, lookOften)
		if c.busy() {
			wait = 0
		} else if c.opts.Every == 0 && steps != nil && c.State().Source != Waiting {
			wait = lookSeldom
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			c.remember(true)
			return ctx.Err()
		case <-steps:
		case <-timer.C:
		}
	}
}
