package server

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Describer is a CameraSource that keeps what people say of cameras: another name than that of the
// bridge's configuration, notes and tags.
type Describer interface {
	// Describe keeps a change, which is checked already, of a camera of an account, durably. by
	// says who made it.
	Describe(ctx context.Context, by identity.Principal, account, id string, change vms.CameraChange) error
}

// Setter is a CameraSource that knows how cameras are set.
type Setter interface {
	// SettingsOf are a camera's; what is not known is left away.
	SettingsOf(account, id string) vms.SettingsData
}

// listCameras is GET /cameras: those that the token may see and the arguments choose, in the order
// of their ids if no other is asked for.
func (s *Server) listCameras(c *call) error {
	a := c.args
	see := func(id string) (vms.Camera, bool) { return s.camera(c.principal, id) }
	page, at, err := chooseFrom(s, c, a, "cameras", s.cameraIDs(c.principal), see, func(cam vms.Camera) device {
		d := device{id: cam.ID, account: cam.AccountID, name: cam.Name, bridge: cam.BridgeID, tags: cam.Tags,
			created: cam.CreateTimestamp.Time,
			shared:  cam.AccountID != c.principal.AccountID}
		if cam.Status != nil {
			d.status = cam.Status.ConnectionStatus
		}
		if cam.Notes != nil {
			d.notes = *cam.Notes
		}
		return d
	})
	if err != nil {
		return err
	}
	for i := range page.Results {
		s.showCamera(c, &page.Results[i], at.Include)
	}
	return c.ok(page)
}

// cameraOf is the camera that a path names, if the caller sees it.
func (s *Server) cameraOf(c *call) (vms.Camera, error) {
	id := c.r.PathValue("id")
	cam, ok := s.camera(c.principal, id)
	if !ok {
		return cam, vms.NotFound("cameras", "", id)
	}
	return cam, nil
}

// getCamera is GET /cameras/{id}.
func (s *Server) getCamera(c *call) error {
	a := c.args
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	cam, err := s.cameraOf(c)
	if err != nil {
		return err
	}
	if s.opts.Statuses != nil && slices.Contains(include, "status") {
		its := c.principal.Find(cameraActor(cam.ID))
		if now, ok := s.opts.Statuses.Status(c.r.Context(), its.Account, its.ID); ok {
			cam.Status = &vms.ConnectionStatus{ConnectionStatus: now}
		}
	}
	s.showCamera(c, &cam, include)
	return c.ok(cam)
}

// changeCamera is PATCH /cameras/{id}. Who sees a camera and may not change it gets 403, everybody
// else 404.
func (s *Server) changeCamera(c *call) error {
	cam, err := s.cameraOf(c)
	if err != nil {
		return err
	}
	if !c.principal.Edits(cameraActor(cam.ID)) {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission, "This user may look at the camera "+cam.ID+
			", but change it only with W on it in camera_access, with is_edit_cameras, or as an administrator")
	}
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	change, problems := vms.ParseCameraChange(cam.ID, body)
	if e := vms.BadRequest(problems); e != nil {
		return e
	}
	its := c.principal.Find(cameraActor(cam.ID))
	if err := s.opts.Cameras.(Describer).Describe(c.r.Context(), c.principal, its.Account, its.ID, change); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// cameraSettings is GET /cameras/{id}/settings: what this server knows of them. Addresses and
// passwords of cameras are not among them.
func (s *Server) cameraSettings(c *call) error {
	a := c.args
	if err := a.err(); err != nil {
		return err
	}
	cam, err := s.cameraOf(c)
	if err != nil {
		return err
	}
	var out vms.Settings
	if known, ok := s.opts.Cameras.(Setter); ok {
		its := c.principal.Find(cameraActor(cam.ID))
		out.Data = known.SettingsOf(its.Account, its.ID)
	}
	out.Data.Operating.On = cam.Status == nil || cam.Status.ConnectionStatus != vms.StatusOff
	return c.ok(out)
}

// showCamera leaves on a camera what was asked for, and adds what depends on who asks.
func (s *Server) showCamera(c *call, cam *vms.Camera, include []string) {
	want := func(name string) bool { return slices.Contains(include, name) }
	if !want("status") {
		cam.Status = nil
	}
	s.showDevice(c, &cam.Described, cameraActor(cam.ID), "securityCamera", include)
	cam.ShareDetails, cam.Capabilities, cam.VisibleByBridges = nil, nil, nil
	if want("shareDetails") {
		cam.ShareDetails = &vms.ShareDetails{Shared: cam.AccountID != c.principal.AccountID, AccountID: cam.AccountID}
	}
	if want("capabilities") {
		cam.Capabilities = &vms.CameraCapabilities{}
	}
	if want("visibleByBridges") {
		cam.VisibleByBridges = []string{cam.BridgeID}
	}
}

// showDevice does the same for what cameras and bridges have in common.
func (s *Server) showDevice(c *call, d *vms.Described, a vms.Actor, icon string, include []string) {
	want := func(name string) bool { return slices.Contains(include, name) }
	p := c.principal
	switch none := ""; {
	case !want("notes"):
		d.Notes = nil
	case d.Notes == nil:
		d.Notes = &none
	}
	switch {
	case !want("tags"):
		d.Tags = nil
	case d.Tags == nil:
		d.Tags = []string{}
	}
	if !want("timeZone") {
		d.TimeZone = nil
	}
	switch {
	case !want("deviceInfo"):
		d.DeviceInfo = nil
	case d.DeviceInfo == nil:
		d.DeviceInfo = &vms.DeviceInfo{Icon: icon, GUID: a.ID}
		if a.Type == vms.ActorBridge {
			d.DeviceInfo.SerialNumber = a.ID
		}
	}
	if d.EffectivePermissions = nil; want("effectivePermissions") {
		d.EffectivePermissions = &vms.DevicePermissions{Read: true, ViewPreviewVideo: p.Views(vms.ImagePreview),
			ViewHistoricVideo: p.Views(vms.ImageMain), ViewLiveVideo: p.Grants == nil || p.Grants.Live,
			DownloadVideo: p.Grants == nil || p.Grants.Export, EditNoBillingSettings: p.Edits(a)}
	}
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
