package server

import (
	"net/http"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// ownerBridge begins the owner of what a bridge reports.
const ownerBridge = "bridge:"

func isBridge(owner string) bool { return strings.HasPrefix(owner, ownerBridge) }

// within says whether an actor lies within what a bridge may know of: what it has itself. Others
// know of what their grants say.
func (s *Server) within(p identity.Principal, a vms.Actor) bool {
	if s.opts.Bridges == nil || !s.opts.Bridges.IsBridge(p) {
		return true
	}
	bridge, holder := s.opts.Bridges.Keeper(p.AccountID, a)
	return bridge != "" && holder == p.Holder
}

// mayAdopt says whether a bridge may report of an actor that no bridge has: a sensor, say, of a
// program in its own network, which becomes the bridge's with that.
func (s *Server) mayAdopt(p identity.Principal, a vms.Actor) bool {
	switch a.Type {
	case vms.ActorCamera, vms.ActorBridge, "account":
		return false
	}
	return s.isNobodys(p, a)
}

// isNobodys says whether no bridge has an actor.
func (s *Server) isNobodys(p identity.Principal, a vms.Actor) bool {
	bridge, _ := s.opts.Bridges.Keeper(p.AccountID, a)
	return bridge == ""
}

// checkReporter is nil if the caller may report events of an actor.
func (s *Server) checkReporter(c *call, a vms.Actor) error {
	p := c.principal
	if !p.Reports(a) {
		if err := s.checkActor(c.r.Context(), c, a); err != nil {
			return err
		}
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission, "This user may look at the "+a.Type+" "+a.ID+
			", but report events of it only with W on it in camera_access, or as an administrator")
	}
	may := s.within(p, a) || s.mayAdopt(p, a)
	// The account may not have the camera, for its limit: that is told to a bridge too.
	if may || s.isNobodys(p, a) {
		has, err := s.opts.Cameras.HasActor(c.r.Context(), p.AccountID, a)
		if has && may || err != nil {
			return err
		}
	}
	return noActor(a)
}

// owner is who a report of an actor by the caller is from: the bridge that has the actor, else the
// holder of the credential.
func (s *Server) owner(c *call, a vms.Actor) string {
	p := c.principal
	if s.opts.Bridges == nil {
		return p.Holder
	}
	bridge, holder := s.opts.Bridges.Keeper(p.AccountID, a)
	if bridge == "" && s.opts.Bridges.IsBridge(p) {
		bridge, holder = s.opts.Bridges.BridgeOf(p), p.Holder
	}
	if bridge != "" && holder == p.Holder {
		return ownerBridge + bridge
	}
	return p.Holder
}

// ownerOf is whose a stored event is. What was stored before owners were kept is the bridge's that
// has the actor; of what no bridge has it is anyone's who may report.
func (s *Server) ownerOf(ev vms.Event) string {
	switch {
	case ev.Owner != "":
		return ev.Owner
	case s.opts.Bridges == nil:
		return vms.OwnerSelf
	}
	if bridge, _ := s.opts.Bridges.Keeper(ev.ActorAccountID,
		vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); bridge != "" {
		return ownerBridge + bridge
	}
	return ""
}

// owned is the answer to a report in the place of another's event.
func owned(ev vms.Event) error {
	return vms.NewError(http.StatusConflict, vms.ReasonExists,
		"Another has reported an event of this actor, type and start, "+ev.ID+
			", and only that one may change it. If yours is an event of its own, report it with a start one "+
			"millisecond later")
}
