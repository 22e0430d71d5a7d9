package identity

import (
	"errors"
	"net/netip"
	"slices"

	"vmsbridge/uplink/vms"
)

var (
	// ErrUnknown says that a token is not known, revoked or expired: the caller answers 401 and no
	// more than that.
	ErrUnknown = errors.New("the token is not valid")
	// ErrNotFound says that the store has no account, user or token of that id.
	ErrNotFound = errors.New("not found")
	// ErrExists says that the id is taken.
	ErrExists = errors.New("exists already")
)

// Kind says what holds a token.
type Kind string

// A bridge reports events and registers cameras; a user looks at them.
const (
	KindBridge Kind = "bridge"
	KindUser   Kind = "user"
)

// Valid says whether k is one of the kinds.
func (k Kind) Valid() bool { return k == KindBridge || k == KindUser }

// Scopes limit what a token may do. A token without scopes may look, and one of kind bridge may
// report too.
const (
	ScopeAll    = "vms.all"
	ScopeRead   = "vms.read"   // list events and cameras, fetch images
	ScopeReport = "vms.report" // report events
)

// Scopes lists the scopes that a token may carry.
var Scopes = []string{ScopeAll, ScopeRead, ScopeReport}

// Principal is who a request comes from. It is a value; its slices must not be changed.
type Principal struct {
	TokenID string
	// Holder is who holds the credential, which outlives a token that is renewed: "client:ID" of
	// OAuth, "user:ID", or "token:ID" of one that an operator made for no user. "" if nobody can
	// tell.
	Holder    string
	Name      string
	Kind      Kind
	AccountID string
	// User is whom users/self describes. A bridge's token has one of its own name.
	User vms.User
	// Cameras are the ids of the cameras that may be seen; nil means all of the account.
	Cameras []string
	Scopes  []string
	// Grants are what the user's record allows, nil if the token stands for no user.
	Grants *Grants
	// Operator says that it is a superuser, who may see what concerns the whole service and not one
	// account.
	Operator bool
	// Ranges are the addresses from which the user's account lets its users act; nil for any.
	// Whoever knows where a request comes from asks From.
	Ranges []netip.Prefix
}

// From says whether the principal may act from an address.
func (p Principal) From(client netip.Addr) bool { return Within(p.Ranges, client) }

// Within says whether an address lies in one of the ranges; nil ranges hold all addresses, also one
// that is not known.
func Within(ranges []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return ranges == nil || slices.ContainsFunc(ranges, func(r netip.Prefix) bool { return r.Contains(a) })
}

// May says whether the principal has a scope.
func (p Principal) May(scope string) bool {
	scopes := ScopesOf(p.Kind, p.Scopes)
	return slices.Contains(scopes, ScopeAll) || slices.Contains(scopes, scope)
}

// ScopesOf are the scopes of a token: those that it has, or those of its kind.
func ScopesOf(k Kind, scopes []string) []string {
	switch {
	case len(scopes) > 0:
		return scopes
	case k == KindBridge:
		return []string{ScopeRead, ScopeReport}
	}
	return []string{ScopeRead}
}

// Reports says whether the principal may report events of an actor of its account: a user who may
// see events, with W on the actor or the rights of an administrator; of others whoever has the
// scope. Whether the account has the actor is for the caller to find out.
func (p Principal) Reports(a vms.Actor) bool {
	if p.Cameras != nil && (a.Type != vms.ActorCamera || !slices.Contains(p.Cameras, a.ID)) {
		return false
	}
	g := p.Grants
	return g == nil || p.ViewsEvents() && p.Home(a.ID) == p.AccountID &&
		(g.Has(a.ID, "W") || g.Edits && a.Type == vms.ActorCamera && g.Has(a.ID, "R"))
}

// Edits says whether the principal may change what is said of a camera of its account, if its token
// may: a user with W on the camera, one who may change the settings of cameras that the user sees,
// or an administrator.
func (p Principal) Edits(a vms.Actor) bool {
	if !p.May(ScopeAll) || !p.Sees(a) || p.Kind == KindBridge {
		return false
	}
	g := p.Grants
	return g == nil || p.Home(a.ID) == p.AccountID && (g.Has(a.ID, "W") || (g.Edits || g.Sets) && g.Has(a.ID, "R"))
}

// Sees says whether the principal may know of an actor of its account, or of the account that Home
// names. Whether that account has the actor is for the caller to find out.
func (p Principal) Sees(a vms.Actor) bool {
	if p.Cameras != nil && (a.Type != vms.ActorCamera || !slices.Contains(p.Cameras, a.ID)) {
		return false
	}
	if p.Grants == nil || p.Grants.Has(a.ID, "R") {
		return true
	}
	_, shared := p.Grants.Shared[a.ID]
	return shared && a.Type == vms.ActorCamera
}
