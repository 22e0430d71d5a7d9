package server

import (
	"maps"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// listCameras is GET /cameras: those that the token may see, in the order of their ids.
func (s *Server) listCameras(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include", "pageSize", "pageToken")
	page, at, err := pageOf(s, c, a, "cameras", s.cameraIDs(c.principal))
	if err != nil {
		return err
	}
	cameras := make([]vms.Camera, 0, len(page.Results))
	for _, id := range page.Results {
		if cam, ok := s.camera(c.principal, id); ok { // else it went a moment ago
			dropStatus(&cam, at.Include)
			cameras = append(cameras, cam)
		}
	}
	return c.ok(vms.MakePage(cameras, page.NextPageToken, page.PrevPageToken, page.TotalSize))
}

// getCamera is GET /cameras/{id}.
func (s *Server) getCamera(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include")
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	id := c.r.PathValue("id")
	cam, ok := s.camera(c.principal, id)
	if !ok {
		return vms.NotFound("cameras", "", id)
	}
	if s.opts.Statuses != nil && slices.Contains(include, "status") {
		its := c.principal.Find(cameraActor(id))
		if now, ok := s.opts.Statuses.Status(c.r.Context(), its.Account, its.ID); ok {
			cam.Status = &vms.ConnectionStatus{ConnectionStatus: now}
		}
	}
	dropStatus(&cam, include)
	return c.ok(cam)
}

// cameraIDs are the cameras that somebody sees, by the ids that they have for that one, in order.
// Nobody changes the slice. It costs what that one sees, and not what the account has.
func (s *Server) cameraIDs(p identity.Principal) []string {
	var ids, maybe []string
	switch g := p.Grants; {
	case p.Cameras != nil:
		maybe = slices.Clone(p.Cameras)
	case g != nil && !g.All:
		maybe = slices.Collect(maps.Keys(g.Devices))
	case s.opts.Bridges == nil || !s.opts.Bridges.IsBridge(p):
		ids = s.opts.Cameras.CameraIDs(p.AccountID, "")
	case p.Holder != "":
		ids = s.opts.Cameras.CameraIDs(p.AccountID, p.Holder)
	}
	if p.Grants != nil {
		maybe = slices.AppendSeq(maybe, maps.Keys(p.Grants.Shared))
	}
	maybe = slices.DeleteFunc(maybe, func(id string) bool {
		_, ok := s.camera(p, id)
		return !ok
	})
	if len(maybe) == 0 {
		return ids
	}
	ids = slices.Concat(ids, maybe)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// camera is one that somebody sees under an id, ok false if there is none.
func (s *Server) camera(p identity.Principal, id string) (cam vms.Camera, ok bool) {
	its := p.Find(cameraActor(id))
	if !p.Sees(cameraActor(id)) || !s.within(p, its) {
		return cam, false
	}
	cam, ok = s.opts.Cameras.CameraOf(its.Account, its.ID)
	cam.ID = id
	return cam, ok
}

func cameraActor(id string) vms.Actor { return vms.Actor{Type: vms.ActorCamera, ID: id} }

// dropStatus leaves the status away unless it was asked for.
func dropStatus(cam *vms.Camera, include []string) {
	if !slices.Contains(include, "status") {
		cam.Status = nil
	}
}
