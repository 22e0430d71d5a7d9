package server

import (
	"context"
	"net/http"
	"net/url"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// clientSettings tells the base address of this server. Clients put https:// before it.
func (s *Server) clientSettings(c *call) error {
	return c.ok(vms.ClientSettings{HTTPSBaseURL: vms.BaseOf(s.here(c.r))})
}

// here is the address of this server, as it was set or as the client may be told it.
func (s *Server) here(r *http.Request) *url.URL { return vms.Here(r, s.base, s.opts.Host) }

// registerBridge is POST /bridges:register, which is not part of the public interface: a bridge
// says which cameras it has and where its stills can be asked for. Only a token of a bridge may,
// since the service will call that address.
func (s *Server) registerBridge(c *call) error {
	if !bringsBridges(c.principal) {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission,
			"Only a token of kind bridge, or of a user who sees all of the account, may register a bridge")
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
	r.Cameras = append([]vms.RegisteredCamera{}, r.Cameras...) // none are an empty list
	answer := vms.Registered{Registration: r}
	if s.opts.Unasked != nil {
		answer.AddressUnasked = s.opts.Unasked(r.Address)
	}
	if s.opts.Refused != nil {
		answer.Refused = s.opts.Refused(c.principal.AccountID, r.ID)
	}
	answer.Twins = s.opts.Twins != nil && s.opts.Twins(c.principal.AccountID, r.ID)
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
	// Book keeps a mark of a bridge of p's account that has just registered, and returns what it
	// has of the bridge's journal now.
	Book(ctx context.Context, p identity.Principal, bridge string, m vms.Mark) (vms.Book, error)
}

// bringsBridges says whether a principal may register bridges and open their tunnels.
func bringsBridges(p identity.Principal) bool {
	return p.Kind == identity.KindBridge || p.Grants != nil && p.Grants.All && p.Cameras == nil
}
