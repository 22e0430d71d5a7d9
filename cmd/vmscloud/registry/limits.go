package registry

import (
	"cmp"
	"fmt"
	"math"
	"net/http"

	"vmsbridge/uplink/vms"
)

// Limits are what an account may have; 0 is any number. What it has already stays when a limit is
// lowered.
type Limits struct{ Cameras, Bridges int }

// most is how many cameras an account may have, with the words for why. The identity file is asked
// only if a registration brings a camera that the account does not have.
func (r *Registry) most(account string, reg vms.Registration) (n int, why string, err error) {
	if !r.bringsMore(account, reg) {
		return math.MaxInt, "", nil
	}
	if r.Quota != nil {
		if n, err = r.Quota(account); n > 0 || err != nil {
			return n, "by its camera_quantity, which a superuser sets", err
		}
	}
	return cmp.Or(r.Limits.Cameras, math.MaxInt), "here; the operator can raise --account-cameras", nil
}

func (r *Registry) bringsMore(account string, reg vms.Registration) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, c := range reg.Cameras {
		if !r.look(account).actors[c.ID].camera() {
			return true
		}
	}
	return false
}

// known bounds what the registry remembers of an account: cameras that are gone and other actors,
// whose events stay, count too.
func (l Limits) known() int {
	if l.Cameras == 0 {
		return math.MaxInt
	}
	return 4*l.Cameras + 1000
}

// fit says which cameras of a registration find no room, and why.
func (a *tenant) fit(reg vms.Registration, most int, why string, known int) (refused []vms.RefusedCamera) {
	if most == math.MaxInt {
		return nil // it brings none
	}
	n, all, listed := a.n, len(a.actors), map[string]bool{}
	for _, c := range reg.Cameras {
		listed[c.ID] = true
	}
	for id := range a.of[reg.ID] {
		if a.actors[id].camera() && !listed[id] {
			n--
		}
	}
	for _, c := range reg.Cameras {
		was, there := a.actors[c.ID]
		if was.camera() {
			continue
		}
		switch {
		case n >= most:
			refused = append(refused,
				vms.RefusedCamera{ID: c.ID, Reason: fmt.Sprintf("the account may have %d cameras %s", most, why)})
			continue
		case !there && all >= known:
			refused = append(refused,
				vms.RefusedCamera{ID: c.ID,
					Reason: fmt.Sprintf("the account has had %d devices, more than are remembered here; "+
						"the operator can "+
						"raise --account-cameras", all)})
			continue
		case !there:
			all++
		}
		n++
	}
	return refused
}

// maxRefused bounds how many refused cameras of a bridge are remembered, to say so when they are
// named.
const maxRefused = 100

// Refused are the cameras of a bridge's last registration that its account may not have.
func (r *Registry) Refused(account, bridge string) []vms.RefusedCamera {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.look(account).refused[bridge]
}

// refusalLocked says of a camera that a bridge of the account names and that the account may not
// have, why; nil for others.
func (r *Registry) refusalLocked(account, camera string) error {
	for _, list := range r.look(account).refused {
		for _, c := range list {
			if c.ID == camera {
				return limited("The camera " + camera + " is not taken: " + c.Reason)
			}
		}
	}
	return nil
}

func limited(text string) error { return vms.NewError(http.StatusForbidden, vms.ReasonLimit, text) }
