package admit

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

const (
	// A crowd of strangers begins with manyStrangers, or when half of Options.Bytes is taken, and
	// has gone when fewStrangers are left with an eighth.
	manyStrangers = 128
	fewStrangers  = 32
	// crowdGarbage is how much garbage Go lets wait while there is a crowd, in percent of what is
	// in use. Else what was held for a moment would double the process.
	crowdGarbage = 20
)

// memory keeps Go from growing for a crowd of strangers, and gives back at once what it took when
// the crowd has gone; otherwise that would take some minutes.
type memory struct {
	mu    sync.Mutex  // guards changes of tight; taken before the listener's and that of crowds
	tight atomic.Bool // there is a crowd
}

// crowds are those of all listeners of the process, which has one collector.
var crowds struct {
	sync.Mutex
	n       int
	percent int // what it was before the first
}

// watch looks whether a crowd has come or gone. Who finds somebody else at that does not wait: that
// one looks once more when it is done.
func (m *memory) watch(l *Listener) {
	for m.due(l) && m.mu.TryLock() {
		if m.due(l) {
			m.turn()
		}
		m.mu.Unlock()
	}
}

func (m *memory) due(l *Listener) bool {
	return m.tight.Load() && l.crowd() == crowdGone || !m.tight.Load() && l.crowd() == crowdCame
}

// turn does what a crowd that has come or gone needs. m.mu is held.
func (m *memory) turn() {
	crowds.Lock()
	defer crowds.Unlock()
	came := !m.tight.Load()
	m.tight.Store(came)
	if came {
		if crowds.n++; crowds.n == 1 {
			if crowds.percent = debug.SetGCPercent(crowdGarbage); 0 < crowds.percent && crowds.percent < crowdGarbage {
				debug.SetGCPercent(crowds.percent)
			}
		}
		return
	}
	if crowds.n--; crowds.n == 0 {
		debug.SetGCPercent(crowds.percent)
		go debug.FreeOSMemory() // it takes a while
	}
}

// crowdChange says what number of strangers there is.
type crowdChange int

const (
	crowdSame crowdChange = iota // neither few nor many
	crowdCame
	crowdGone
)

func (l *Listener) crowd() crowdChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch n := l.strangersLocked(); {
	case n >= manyStrangers, l.bytes >= l.o.Bytes/2:
		return crowdCame
	case n <= fewStrangers && l.bytes <= l.o.Bytes/8:
		return crowdGone
	}
	return crowdSame
}
