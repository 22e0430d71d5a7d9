package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// clientSettings tells the base address of this server. Clients put https:// before it.
func (s *Server) clientSettings(c *call) error {
	if err := parseArgs(c.r.URL.RawQuery).err(); err != nil {
		return err
	}
	base := s.here(c.r)
	port, err := strconv.Atoi(base.Port())
	if err != nil {
		port = 80
		if base.Scheme == "https" {
			port = 443
		}
	}
	return c.ok(vms.ClientSettings{HTTPSBaseURL: vms.BaseURL{Hostname: base.Hostname(), Port: port}})
}

// here is the address of this server, as it was set or as the client may be told it.
func (s *Server) here(r *http.Request) *url.URL { return vms.Here(r, s.base, s.opts.Host) }

// getSelf is GET /users/self: whom the token stands for.
func (s *Server) getSelf(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include")
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	user := c.principal.User
	switch {
	case !slices.Contains(include, "timeZone"):
		user.TimeZone = nil
	case user.TimeZone == nil:
		user.TimeZone = &vms.TimeZone{TimeZone: "UTC"}
	}
	return c.ok(user)
}

// listCameras is GET /cameras: those of the account that the token may see, in the order of their ids.
func (s *Server) listCameras(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include", "pageSize", "pageToken")
	page, at, err := pageFrom(s, c, a, "cameras", func(from, n int) ([]vms.Camera, int, error) {
		if pager, ok := s.opts.Cameras.(CameraPager); ok && s.seesAll(c.principal) {
			return pager.CamerasFrom(c.r.Context(), c.principal.AccountID, from, n)
		}
		all, err := s.seenCameras(c)
		from = min(from, len(all))
		return all[from:min(from+n, len(all))], len(all), err
	})
	if err != nil {
		return err
	}
	for i := range page.Results {
		dropStatus(&page.Results[i], at.Include)
	}
	return c.ok(page)
}

// getCamera is GET /cameras/{id}.
func (s *Server) getCamera(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include")
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	id := c.r.PathValue("id")
	its := c.principal.Find(cameraActor(id))
	cam, ok, err := s.camera(c.r.Context(), its)
	if err != nil {
		return err
	}
	if !ok || !c.principal.Sees(cameraActor(id)) || !s.within(c.principal, its) {
		return vms.NotFound("cameras", "", id)
	}
	if s.opts.Statuses != nil && slices.Contains(include, "status") {
		if now, ok := s.opts.Statuses.Status(c.r.Context(), its.Account, its.ID); ok {
			cam.Status = &vms.ConnectionStatus{ConnectionStatus: now}
		}
	}
	cam.ID = id
	dropStatus(&cam, include)
	return c.ok(cam)
}

// camera finds a camera of an account.
func (s *Server) camera(ctx context.Context, a vms.Actor) (cam vms.Camera, ok bool, err error) {
	if pager, ok := s.opts.Cameras.(CameraPager); ok {
		return pager.CameraOf(ctx, a.Account, a.ID)
	}
	all, err := s.opts.Cameras.Cameras(ctx, a.Account)
	i := slices.IndexFunc(all, func(cam vms.Camera) bool { return cam.ID == a.ID })
	if err != nil || i < 0 {
		return cam, false, err
	}
	return all[i], true, nil
}

// seesAll says whether somebody sees all cameras of the own account, and none of others.
func (s *Server) seesAll(p identity.Principal) bool {
	all := p.Cameras == nil && (p.Grants == nil || p.Grants.All && len(p.Grants.Shared) == 0)
	return all && (s.opts.Bridges == nil || !s.opts.Bridges.IsBridge(p))
}

// seenCameras are the cameras that the caller may see: those of its account and those that others share with it, in the
// order of their ids.
func (s *Server) seenCameras(c *call) ([]vms.Camera, error) {
	accounts := map[string]bool{c.principal.AccountID: true}
	if c.principal.Grants != nil {
		for _, owner := range c.principal.Grants.Shared {
			accounts[owner] = true
		}
	}
	var out []vms.Camera
	for account := range accounts {
		all, err := s.opts.Cameras.Cameras(c.r.Context(), account)
		if err != nil {
			return nil, err
		}
		for _, cam := range all {
			its := vms.Actor{Type: vms.ActorCamera, ID: cam.ID, Account: account}
			cam.ID = c.principal.Called(account, its)
			if c.principal.Sees(cameraActor(cam.ID)) && s.within(c.principal, its) && c.principal.Find(cameraActor(cam.ID)) == its {
				out = append(out, cam)
			}
		}
	}
	slices.SortFunc(out, func(a, b vms.Camera) int { return strings.Compare(a.ID, b.ID) })
	return out, c.r.Context().Err()
}

func cameraActor(id string) vms.Actor { return vms.Actor{Type: vms.ActorCamera, ID: id} }

// dropStatus leaves the status away unless it was asked for.
func dropStatus(cam *vms.Camera, include []string) {
	if !slices.Contains(include, "status") {
		cam.Status = nil
	}
}

// registerBridge is POST /bridges:register, which is not part of the public interface: a bridge says which cameras it
// has and where its stills can be asked for. Only a token of a bridge may, since the service will call that address.
func (s *Server) registerBridge(c *call) error {
	if err := parseArgs(c.r.URL.RawQuery).err(); err != nil {
		return err
	}
	if !bringsBridges(c.principal) {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission, "Only a token of kind bridge, or of a user who sees all of the account, may register a bridge")
	}
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	r, problems := vms.ParseRegistration(body)
	if e := vms.BadRequest(problems); e != nil {
		return e
	}
	if err := s.opts.Bridges.Register(c.r.Context(), c.principal, r); err != nil {
		return err
	}
	r.ImageToken = ""
	answer := vms.Registered{Registration: r}
	if s.opts.Unasked != nil {
		answer.AddressUnasked = s.opts.Unasked(r.Address)
	}
	if s.opts.Refused != nil {
		answer.Refused = s.opts.Refused(c.principal.AccountID, r.ID)
	}
	if _, ok := s.opts.Events.(BatchStore); ok {
		answer.ReportAtOnce = reportAtOnce
	}
	if books, ok := s.opts.Bridges.(Bookkeeper); ok {
		if m, ok := vms.ParseMark(c.r.Header.Get(vms.HeaderJournal)); ok {
			book, err := books.Book(c.r.Context(), c.principal, r.ID, m)
			if err != nil {
				return err
			}
			answer.Book = &book
		}
	}
	return c.ok(answer)
}

// Bookkeeper is a BridgeRegistry that keeps how far it has what a bridge's journal holds.
type Bookkeeper interface {
	// Book keeps a mark of a bridge of p's account that has just registered, and returns what it has of the bridge's journal now.
	Book(ctx context.Context, p identity.Principal, bridge string, m vms.Mark) (vms.Book, error)
}

// bringsBridges says whether a principal may register bridges and open their tunnels.
func bringsBridges(p identity.Principal) bool {
	return p.Kind == identity.KindBridge || p.Grants != nil && p.Grants.All && p.Cameras == nil
}
