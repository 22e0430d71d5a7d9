package codec

import (
	"sync"
	"time"
)

// Deaths are those of decoder processes that ended unasked or did not come to life.
type Deaths struct {
	Count  int `json:"count"`
	Killed int `json:"killed"` // of these by SIGKILL, as the kernel does where memory is short
}

// deathsOver is how long a death counts, and mostDeaths how many are remembered: more say no more.
const (
	deathsOver = 10 * time.Minute
	mostDeaths = 1000
)

// deaths remembers the latest. The zero value is ready, and safe for concurrent use.
type deaths struct {
	mu   sync.Mutex // guards list
	list []death
}

type death struct {
	at     time.Time
	killed bool
}

func (d *deaths) add(reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list[max(0, len(d.list)+1-mostDeaths):], death{time.Now(), reason == reasonKilled})
}

// Deaths are those of the last ten minutes. Safe for concurrent use.
func (p *Pool) Deaths() (n Deaths) {
	p.deaths.mu.Lock()
	defer p.deaths.mu.Unlock()
	for _, d := range p.deaths.list {
		if time.Since(d.at) >= deathsOver {
			continue
		}
		if n.Count++; d.killed {
			n.Killed++
		}
	}
	return n
}
