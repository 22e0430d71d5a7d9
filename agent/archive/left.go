package archive

import (
	"slices"
	"sync"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// left is the cameras' status spans that the last run left open: a restart does not end the time in
// which a camera is online. Its zero value is ready.
type left struct {
	mu    sync.Mutex // guards spans
	spans map[string]journal.Ongoing
}

// take keeps a span for its camera to go on with, if it is a status span of a camera that is
// watched.
func (l *left) take(cameras []configs.Camera, o journal.Ongoing) bool {
	ev := o.Event
	watched := slices.ContainsFunc(cameras, func(c configs.Camera) bool { return c.ID == ev.ActorID && c.Enabled })
	if ev.Type != vms.TypeDeviceStatus || ev.CreatorID != vms.CreatorHealth || ev.ActorType != vms.ActorCamera ||
		!watched {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spans == nil {
		l.spans = map[string]journal.Ongoing{}
	}
	if _, twice := l.spans[ev.ActorID]; twice {
		return false
	}
	l.spans[ev.ActorID] = o
	return true
}
