package identity

import (
	"strings"

	"vmsbridge/uplink/vms"
)

// Grants are what a user's own record allows. A principal without Grants is not a user of the
// records, such as a bridge or a token of the YAML file, and may do what its token may.
type Grants struct {
	// All says that the user sees every device of the account.
	All bool
	// Edits says that the user may change every camera that the user sees.
	Edits bool
	// Sets says that the user may change the settings of every camera that the user sees.
	Sets bool
	// Devices are the letters that the user has on devices: R view, W modify and delete, S share in
	// a group.
	Devices map[string]string
	// Shared are cameras of other accounts that are shared with the user: id → account id. Each has
	// its own id, but for one whose id the user's account uses itself, or another account shares
	// too: that is camera@account here, and Aliases has its own id.
	Shared  map[string]string
	Aliases map[string]string
	// What the user may look at: preview images, recorded video, live video; and take away:
	// exported video.
	Preview, Recorded, Live, Export bool
}

// Has says whether the grants hold a letter on a device.
func (g *Grants) Has(device, letter string) bool {
	return g == nil || g.All || strings.Contains(strings.ToUpper(g.Devices[device]), letter)
}

// Home is the account that a camera belongs to as the principal sees it: the one that shares it, or
// its own.
func (p Principal) Home(camera string) string {
	return p.Find(vms.Actor{Type: vms.ActorCamera, ID: camera}).Account
}

// Find is the actor that the principal knows under an id: with the account that has it, and by the
// id that it has there.
func (p Principal) Find(a vms.Actor) vms.Actor {
	a.Account = p.AccountID
	if p.Grants == nil || a.Type != vms.ActorCamera {
		return a
	}
	if owner, ok := p.Grants.Shared[a.ID]; ok {
		a.Account = owner
		if id, ok := p.Grants.Aliases[a.ID]; ok {
			a.ID = id
		}
	}
	return a
}

// Called is under which id the principal knows an account's actor: what Find finds again.
func (p Principal) Called(account string, a vms.Actor) string {
	if account != p.AccountID && a.Type == vms.ActorCamera && p.Grants != nil {
		for alias, id := range p.Grants.Aliases {
			if id == a.ID && p.Grants.Shared[alias] == account {
				return alias
			}
		}
	}
	return a.ID
}

// Views says whether the principal may see recorded images of a kind, vms.ImagePreview or
// vms.ImageMain.
func (p Principal) Views(kind string) bool {
	switch {
	case p.Grants == nil:
		return true
	case kind == vms.ImageMain:
		return p.Grants.Recorded
	}
	return p.Grants.Preview
}

// ViewsEvents says whether the principal may see events: whoever may see pictures may see what
// happened in them.
func (p Principal) ViewsEvents() bool {
	return p.Grants == nil || p.Grants.Preview || p.Grants.Recorded
}
