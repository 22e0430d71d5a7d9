package server

import (
	"maps"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// BridgeSource is a CameraSource that knows the bridges of an account too. It answers from memory.
type BridgeSource interface {
	// BridgeIDs are the ids of the account's bridges in order. Nobody changes the slice.
	BridgeIDs(account string) []string
	// BridgeRecord is one of them with its status, and the ids of its cameras; ok is false if there
	// is none of that id.
	BridgeRecord(account, id string) (b vms.Bridge, cameras []string, ok bool)
}

// listBridges is GET /bridges: those that the token may see and the arguments choose.
func (s *Server) listBridges(c *call) error {
	a := c.args
	see := func(id string) (vms.Bridge, bool) { b, _, ok := s.bridge(c.principal, id); return b, ok }
	page, at, err := chooseFrom(s, c, a, "bridges", s.bridgeIDs(c.principal), see, func(b vms.Bridge) device {
		d := device{id: b.ID, account: b.AccountID, name: b.Name, created: b.CreateTimestamp.Time}
		if b.Status != nil {
			d.status = b.Status.ConnectionStatus
		}
		return d
	})
	if err != nil {
		return err
	}
	for i := range page.Results {
		s.showBridge(c, &page.Results[i], at.Include)
	}
	return c.ok(page)
}

// getBridge is GET /bridges/{id}.
func (s *Server) getBridge(c *call) error {
	a := c.args
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	id := c.r.PathValue("id")
	b, _, ok := s.bridge(c.principal, id)
	if !ok {
		return vms.NotFound("bridges", "", id)
	}
	s.showBridge(c, &b, include)
	return c.ok(b)
}

// bridgeIDs are the bridges that somebody sees, in order.
func (s *Server) bridgeIDs(p identity.Principal) []string {
	var maybe []string
	switch g := p.Grants; {
	case p.Cameras != nil:
		return nil
	case g != nil && !g.All:
		maybe = slices.Sorted(maps.Keys(g.Devices))
	case s.opts.Bridges != nil && s.opts.Bridges.IsBridge(p):
		maybe = slices.Clone(s.opts.Cameras.(BridgeSource).BridgeIDs(p.AccountID))
	default:
		return s.opts.Cameras.(BridgeSource).BridgeIDs(p.AccountID)
	}
	return slices.DeleteFunc(maybe, func(id string) bool { _, _, ok := s.bridge(p, id); return !ok })
}

// bridge is one that somebody sees, with the ids of its cameras.
func (s *Server) bridge(p identity.Principal, id string) (b vms.Bridge, cameras []string, ok bool) {
	a := vms.Actor{Type: vms.ActorBridge, ID: id, Account: p.AccountID}
	if !p.Sees(a) || !s.within(p, a) {
		return b, nil, false
	}
	return s.opts.Cameras.(BridgeSource).BridgeRecord(p.AccountID, id)
}

// showBridge leaves on a bridge what was asked for. Of its cameras only those count that the caller
// sees.
func (s *Server) showBridge(c *call, b *vms.Bridge, include []string) {
	want := func(name string) bool { return slices.Contains(include, name) }
	if !want("status") {
		b.Status = nil
	}
	if !want("networkInfo") {
		b.NetworkInfo = nil
	}
	s.showDevice(c, &b.Described, vms.Actor{Type: vms.ActorBridge, ID: b.ID}, "bridge", include)
	if !want("resourceCounts") && !want("resourceStatusCounts") {
		return
	}
	counts := map[string]int{}
	for _, status := range vms.Statuses() {
		counts[status] = 0
	}
	n := 0
	_, cameras, _ := s.bridge(c.principal, b.ID)
	for _, id := range cameras {
		if cam, ok := s.camera(c.principal, id); ok && cam.BridgeID == b.ID {
			n++
			if cam.Status != nil {
				counts[cam.Status.ConnectionStatus]++
			}
		}
	}
	if want("resourceCounts") {
		b.ResourceCounts = &vms.DeviceCounts{Cameras: n}
	}
	if want("resourceStatusCounts") {
		b.ResourceStatusCounts = &vms.StatusCounts{Cameras: counts}
	}
}
