package web

import (
	"iter"
	"slices"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// The device status is a set of bits. The public manual's bridge that is online shows 0x120001, and
// that is what is shown here of a device that is; bit 20 alone is one that is known and away.
const (
	bitsOnline = 0x120001
	bitsAway   = 0x100000
)

// seenDevice is a device with what the caller may do with it.
type seenDevice struct {
	Device         // its ID is the caller's for it
	own     string // its id in its account
	account *owner
	shared  bool
	letters string
}

// owner is an account that has devices which the caller sees.
type owner struct {
	model.Account
	offset int // of its time zone
}

// sight is which devices the caller may see: of the account that the session is in, and those that
// others share.
type sight struct {
	active string // id of the account that the session is in
	p      identity.Principal
	owners map[string]*owner
}

// sight finds out which devices the caller may see. It is found out in a transaction, and the list
// is made after that: it may be long.
func (c *call) sight() (s sight, err error) {
	err = c.view(func(tx *store.Tx, me session.Caller) error {
		s = sight{active: me.Active.ID, owners: map[string]*owner{}}
		if s.p, err = tx.Principal(me.User, me.Active); err != nil {
			if err == identity.ErrUnknown { //nolint:errorlint // it is returned as it is
				return nil // inside a suspended account there is nothing to see
			}
			return err
		}
		s.owners[me.Active.ID] = &owner{Account: me.Active}
		for _, id := range s.p.Grants.Shared {
			a, err := tx.Account(id)
			if err != nil {
				return err
			}
			s.owners[id] = &owner{Account: a}
		}
		for _, o := range s.owners {
			o.offset = model.Offset(o.Timezone, tx.Now())
		}
		return nil
	})
	return s, err
}

// see is a device of an account as the caller sees it, ok false if the caller does not.
func (s sight) see(account string, d Device) (seen seenDevice, ok bool) {
	its := vms.Actor{Type: d.Kind, ID: d.ID, Account: account}
	d.ID = s.p.Called(account, its)
	if known := (vms.Actor{Type: d.Kind, ID: d.ID}); !s.p.Sees(known) || s.p.Find(known) != its {
		return seen, false
	}
	seen = seenDevice{Device: d, own: its.ID, account: s.owners[account], shared: account != s.active}
	switch {
	case seen.shared:
		seen.letters = "R"
	case s.p.Grants.All:
		seen.letters = "RWS"
	default:
		seen.letters = strings.ToUpper(s.p.Grants.Devices[d.ID])
	}
	return seen, true
}

// devices are those that the caller may see, in the order of their ids.
func (c *call) devices(s sight) ([]seenDevice, error) {
	var out []seenDevice
	for id := range s.owners {
		list, err := c.o.Devices.Devices(c.r.Context(), id)
		if err != nil {
			return nil, err
		}
		out = slices.Grow(out, len(list))
		for _, d := range list {
			if seen, ok := s.see(id, d); ok {
				out = append(out, seen)
			}
		}
		if err := c.r.Context().Err(); err != nil {
			return nil, err // nobody waits for it any more
		}
	}
	slices.SortFunc(out, func(a, b seenDevice) int { return strings.Compare(a.ID, b.ID) })
	return out, c.r.Context().Err()
}

// device is the one that the caller sees under an id.
func (c *call) device(s sight, id string) (seenDevice, bool) {
	for _, kind := range []string{vms.ActorCamera, vms.ActorBridge} {
		its := s.p.Find(vms.Actor{Type: kind, ID: id})
		if d, ok := c.o.Devices.Device(its.Account, its.ID); ok && d.Kind == kind {
			if seen, ok := s.see(its.Account, d); ok && seen.ID == id {
				return seen, true
			}
		}
	}
	return seenDevice{}, false
}

// attached are the cameras of each bridge among devices, as [[id, "ATTD"]].
func attached(all []seenDevice) map[string][][]string {
	out := map[string][][]string{}
	for _, d := range all {
		if d.Bridge != "" {
			key := d.AccountID + "/" + d.Bridge // no id has a slash
			out[key] = append(out[key], []string{d.ID, "ATTD"})
		}
	}
	return out
}

// attachedTo is the bridge of a camera, or what attached has of a bridge.
func (d seenDevice) attachedTo(cameras map[string][][]string) [][]string {
	if d.Bridge != "" {
		return [][]string{{d.Bridge, "ATTD"}}
	}
	if list := cameras[d.AccountID+"/"+d.ID]; list != nil && d.Kind == vms.ActorBridge {
		return list
	}
	return [][]string{}
}

func (d seenDevice) status() int {
	if d.Status == vms.StatusOnline {
		return bitsOnline
	}
	return bitsAway
}

// listDevices is GET /g/device/list, an entry by the positions of the public manual. The parameters
// e, n, t and s choose by id, name, type and service status.
func (c *call) listDevices() (any, error) {
	seen, err := c.sight()
	if err != nil {
		return nil, err
	}
	all, err := c.devices(seen)
	if err != nil {
		return nil, err
	}
	cameras, wanted := attached(all), c.wanted()
	return iter.Seq[any](func(yield func(any) bool) {
		for _, d := range all {
			if wanted(d) && !yield([]any{
				// 0 to 9
				d.AccountID, d.ID, d.Name, d.Kind, d.attachedTo(cameras), "ATTD", d.letters, []string{}, d.ID, d.ID,
				d.status(), d.account.Timezone, d.account.offset, 0, d.Address, model.Flag(d.shared), // 10 to 15
				// 16 to 26
				d.account.Name, false, nil, nil, make([]any, 7), nil, nil, 0, []string{}, responder(d),
				map[string]any{},
			}) {
				return
			}
		}
	}), nil
}

func responder(d seenDevice) model.Flag {
	return model.Flag(slices.Contains(d.account.ResponderCameras, d.own))
}

// wanted says which devices the parameters of the list ask for.
func (c *call) wanted() func(seenDevice) bool {
	asked := map[string]string{}
	for _, name := range []string{"e", "n", "t", "s"} {
		if want, err := c.set.Text(name); err == nil && want != "" {
			asked[name] = want
		}
	}
	return func(d seenDevice) bool {
		for name, want := range asked {
			if have := map[string]string{"e": d.ID, "n": d.Name, "t": d.Kind, "s": "ATTD"}[name]; want != have {
				return false
			}
		}
		return true
	}
}

// getDevice is GET /g/device. A device that the caller may not see is as little found as one that
// does not exist.
func (c *call) getDevice() (any, error) {
	id, bad := c.id()
	s, err := c.sight()
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, bad
	}
	d, ok := c.device(s, id)
	if !ok {
		return nil, errNoDevice
	}
	if bad != nil {
		return nil, bad
	}
	out := map[string]any{"id": d.ID, "name": d.Name, "type": d.Kind, "account_id": d.AccountID,
		"utcOffset": d.account.offset,
		"timezone":  d.account.Timezone, "guid": d.ID, "permissions": d.letters, "tags": []string{}, "bridges": nil,
		"settings":                map[string]any{},
		"camera_info_status_code": 200, "camera_info": map[string]any{"esn": d.ID, "ssn": d.ID, "class": d.Kind,
			"service": "ATTD",
			"status":  d.status(), "connect": d.Status, "ipaddr": d.Address, "created": model.Stamp(d.Created),
			"make": "vms"}}
	if d.Kind == vms.ActorCamera && d.Bridge != "" {
		out["bridges"] = map[string]string{d.Bridge: "ATTD"}
	}
	return out, nil
}
