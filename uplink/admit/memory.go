package admit

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
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
	mu    sync.Mutex // guards what follows; taken before the listener's
	tight bool
	limit int64 // what it was before
}

// watch looks whether a crowd has come or gone.
func (m *memory) watch(l *Listener) {
	if crowd := l.crowd(); crowd == crowdSame || !m.mu.TryLock() {
		return // who holds it looks too, and so does the next connection
	}
	defer m.mu.Unlock()
	switch crowd := l.crowd(); {
	case crowd == crowdCame && !m.tight:
		m.tight, m.limit = true, debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(m.limit, held()+crowdBytes))
	case crowd == crowdGone && m.tight:
		m.tight = false
		debug.SetMemoryLimit(m.limit)
		debug.FreeOSMemory()
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

// held is the memory that Go has of the system now.
func held() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
