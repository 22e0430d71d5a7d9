package registry

import (
	"time"

	"vmsbridge/uplink/vms"
)

// bridgeAway is how long after its last registration, which it renews every minute, a bridge without a tunnel
// counts as offline.
const bridgeAway = 3 * time.Minute

// SetStatus notes a status event, unless a later one was heard already.
func (r *Registry) SetStatus(id, status string, since time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.actors[id]
	if !ok || since.Before(a.StatusSince) || (a.Status == status && a.StatusSince.Equal(since)) {
		return nil
	}
	a.Status, a.StatusSince = status, since
	if err := r.save(Bridge{}, map[string]Actor{id: a}); err != nil {
		return err
	}
	r.actors[id] = a
	return nil
}

// statusLocked is bridgeOffline while nothing is heard of the bridge; the camera may be well then.
func (r *Registry) statusLocked(a Actor) string {
	if r.awayLocked(a.Bridge) {
		return vms.StatusBridgeOffline
	}
	if a.Status == "" {
		return vms.StatusUnknown
	}
	return a.Status
}

// awayLocked says whether nothing is known of a bridge at the moment: it has no tunnel, and has not registered lately.
func (r *Registry) awayLocked(bridge string) bool {
	if r.Stands != nil && r.Stands(bridge) {
		return false
	}
	return r.now().Sub(r.bridges[bridge].seen) > bridgeAway
}
