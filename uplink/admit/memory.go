package admit

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

const (
	// A crowd of strangers begins with manyStrangers, or when half of Options.Bytes is taken, and
	// has gone when fewStrangers are left with an eighth.
	manyStrangers = 128
	fewStrangers  = 32
	// crowdBytes is how much more memory Go may hold while there is a crowd. Without it, what was
	// held for a moment would double the process (75 MiB, not 35, with 2,000 half requests in a
	// second). 2,000 by HTTP/2 with eight requests each cost a service 70 MiB with twice as much,
	// 50 with this.
	crowdBytes = 16 << 20
)

// memory keeps Go from growing for a crowd of strangers, and gives back at once what it took when
// the crowd has gone; otherwise that would take some minutes.
type memory struct {
	mu    sync.Mutex  // guards limit, and changes of tight; taken before the listener's
	tight atomic.Bool // there is a crowd
	limit int64       // what it was before
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
	if crowd := !m.tight.Load(); crowd {
		m.limit = debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(m.limit, held()+crowdBytes))
		m.tight.Store(true)
		return
	}
	m.tight.Store(false)
	debug.SetMemoryLimit(m.limit)
	debug.FreeOSMemory()
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

// held is the memory that Go has of the system now.
func held() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
