package registry

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// claim is what a bridge that is registered already has of another registration: its id, or a
// camera, "" for the id.
type claim struct{ bridge, holder, camera string }

// claimsLocked are the claims on a registration that are not its own credential's: on the id of the
// bridge, and one of each other bridge on a camera.
func (r *Registry) claimsLocked(p identity.Principal, reg vms.Registration) (out []claim) {
	mine := r.look(p.AccountID)
	add := func(b Bridge, camera string) {
		if b.Holder != "" && b.Holder != p.Holder &&
			!slices.ContainsFunc(out, func(c claim) bool { return c.bridge == b.ID }) {
			out = append(out, claim{b.ID, b.Holder, camera})
		}
	}
	add(mine.bridges[reg.ID], "")
	for _, c := range reg.Cameras {
		if a := mine.actors[c.ID]; a.camera() && a.Bridge != reg.ID && !a.Released {
			add(mine.bridges[a.Bridge], c.ID)
		}
	}
	return out
}

// mayTake is nil if a credential may have what another one claims: it may once the other one is
// revoked, expired or gone.
func (r *Registry) mayTake(c claim, p identity.Principal) error {
	name := c.holder
	if r.Holds != nil {
		called, stands, err := r.Holds(c.holder)
		if err != nil || !stands {
			return err
		}
		name = strconv.Quote(called) + " (" + c.holder + ")"
	}
	if c.camera == "" {
		return vms.NewError(http.StatusConflict, vms.ReasonExists,
			"The bridge "+c.bridge+" is registered with another credential, "+name+
				", which is still good. If this one shall take its place, let the operator say so: "+
				"vmscloud bridge release "+c.bridge+" --account "+p.AccountID+"; else give this bridge another id")
	}
	return vms.NewError(http.StatusConflict, vms.ReasonExists,
		"The camera "+c.camera+" belongs to the bridge "+c.bridge+", which is registered with another credential, "+
			name+", that is still good. Remove the camera from that bridge's configuration, "+
			"or let the operator say so: "+
			"vmscloud camera release "+c.camera+
			" --account "+p.AccountID+"; else give this camera another id")
}

// SpeaksFor is nil if the credential of a request may open the tunnel of a bridge.
func (r *Registry) SpeaksFor(p identity.Principal, bridge string) error {
	r.mu.RLock()
	b, ok := r.look(p.AccountID).bridges[bridge]
	r.mu.RUnlock()
	if !ok {
		return vms.NewError(http.StatusConflict, vms.ReasonResource,
			"No bridge of this id is registered for the account of this token; register it first")
	}
	if b.Holder == "" || b.Holder == p.Holder {
		return nil
	}
	return r.mayTake(claim{bridge: b.ID, holder: b.Holder}, p)
}

// Keeper is the bridge that has an actor of an account, itself included, and the holder of the
// credential that registered it; "" for what no bridge has.
func (r *Registry) Keeper(account string, a vms.Actor) (bridge, holder string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	mine := r.look(account)
	known, ok := mine.actors[a.ID]
	if !ok || known.Type != a.Type {
		return "", ""
	}
	bridge = known.Bridge
	if known.Type == vms.ActorBridge {
		bridge = known.ID
	}
	return bridge, mine.bridges[bridge].Holder
}

// IsBridge says whether a credential is a bridge's: one that was made for a bridge, or that has
// registered one. A client of OAuth that has not is any program of the account.
func (r *Registry) IsBridge(p identity.Principal) bool {
	if p.Kind != identity.KindBridge || !strings.HasPrefix(p.Holder, "client:") {
		return p.Kind == identity.KindBridge
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.held[p.Holder]) > 0
}

// BridgeOf is the bridge that a credential has registered, the first of several, "" if it has none.
func (r *Registry) BridgeOf(p identity.Principal) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, key := range r.held[p.Holder] {
		if account, id, _ := strings.Cut(key, "/"); p.Holder != "" && account == p.AccountID {
			return id
		}
	}
	return ""
}

// setLocked puts a bridge in place of what was known of it.
func (r *Registry) setLocked(b Bridge) {
	mine := r.account(b.Account)
	if old, ok := mine.bridges[b.ID]; ok && old.Holder == b.Holder {
		mine.bridges[b.ID] = b
		return
	}
	r.dropLocked(b.Account, b.ID)
	mine.bridges[b.ID] = b
	clear(mine.lists)
	key := Key(b.Account, b.ID)
	if at, ok := slices.BinarySearch(r.held[b.Holder], key); !ok {
		r.held[b.Holder] = slices.Insert(r.held[b.Holder], at, key)
	}
}

func (r *Registry) dropLocked(account, id string) {
	bridges := r.look(account).bridges
	if old, ok := bridges[id]; ok {
		if at, ok := slices.BinarySearch(r.held[old.Holder], Key(account, id)); ok {
			r.held[old.Holder] = slices.Delete(r.held[old.Holder], at, at+1)
		}
		if len(r.held[old.Holder]) == 0 {
			delete(r.held, old.Holder)
		}
		delete(bridges, id)
	}
}
