package web

import (
	"slices"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// The device status is a set of bits. The public manual's bridge that is online shows 0x120001, and that is what is shown
// here of a device that is; bit 20 alone is one that is known and away.
const (
	bitsOnline = 0x120001
	bitsAway   = 0x100000
)

// seenDevice is a device with what the caller may do with it.
type seenDevice struct {
	Device         // its ID is the caller's for it
	own     string // its id in its account
	account model.Account
	offset  int // of its account's time zone
	shared  bool
	letters string
}

// devices are those that the caller may see: of the account that the session is in, and those that others share.
func (c *call) devices(tx *store.Tx, me session.Caller) ([]seenDevice, error) {
	p, err := tx.Principal(me.User, me.Active)
	if err != nil {
		if err == identity.ErrUnknown { //nolint:errorlint // it is returned as it is
			return nil, nil // inside a suspended account there is nothing to see
		}
		return nil, err
	}
	accounts := map[string]model.Account{me.Active.ID: me.Active}
	for _, owner := range p.Grants.Shared {
		if accounts[owner], err = tx.Account(owner); err != nil {
			return nil, err
		}
	}
	var out []seenDevice
	for id, a := range accounts {
		offset := model.Offset(a.Timezone, tx.Now())
		list, err := c.o.Devices.Devices(c.r.Context(), id)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			its := vms.Actor{Type: d.Kind, ID: d.ID, Account: id}
			d.ID = p.Called(id, its)
			if seen := (vms.Actor{Type: d.Kind, ID: d.ID}); !p.Sees(seen) || p.Find(seen) != its {
				continue
			}
			s := seenDevice{Device: d, own: its.ID, account: a, offset: offset, shared: id != me.Active.ID, letters: strings.ToUpper(p.Grants.Devices[d.ID])}
			if p.Grants.All && !s.shared {
				s.letters = "RWS"
			} else if s.shared {
				s.letters = "R"
			}
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b seenDevice) int { return strings.Compare(a.ID, b.ID) })
	return out, c.r.Context().Err()
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

// listDevices is GET /g/device/list, an entry by the positions of the public manual. The parameters e, n, t and s choose by
// id, name, type and service status.
func (c *call) listDevices() error {
	out := [][]any{}
	err := c.view(func(tx *store.Tx, me session.Caller) error {
		all, err := c.devices(tx, me)
		cameras, wanted := attached(all), c.wanted()
		for _, d := range all {
			if c.r.Context().Err() != nil {
				return c.r.Context().Err() // nobody waits for it any more
			}
			if wanted(d) {
				out = append(out, []any{
					d.AccountID, d.ID, d.Name, d.Kind, d.attachedTo(cameras), "ATTD", d.letters, []string{}, d.ID, d.ID, // 0 to 9
					d.status(), d.account.Timezone, d.offset, 0, d.Address, model.Flag(d.shared), // 10 to 15
					d.account.Name, false, nil, nil, make([]any, 7), nil, nil, 0, []string{}, responder(d), map[string]any{}, // 16 to 26
				})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.ok(out)
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

// getDevice is GET /g/device. A device that the caller may not see is as little found as one that does not exist.
func (c *call) getDevice() error {
	id, bad := c.id()
	var out map[string]any
	err := c.view(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return bad
		}
		all, err := c.devices(tx, me)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(d seenDevice) bool { return d.ID == id })
		if at < 0 {
			return errNoDevice
		}
		if bad != nil {
			return bad
		}
		d := all[at]
		out = map[string]any{"id": d.ID, "name": d.Name, "type": d.Kind, "account_id": d.AccountID, "utcOffset": d.offset,
			"timezone": d.account.Timezone, "guid": d.ID, "permissions": d.letters, "tags": []string{}, "bridges": nil, "settings": map[string]any{},
			"camera_info_status_code": 200, "camera_info": map[string]any{"esn": d.ID, "ssn": d.ID, "class": d.Kind, "service": "ATTD",
				"status": d.status(), "connect": d.Status, "ipaddr": d.Address, "created": model.Stamp(d.Created), "make": "vms"}}
		if d.Kind == vms.ActorCamera && d.Bridge != "" {
			out["bridges"] = map[string]string{d.Bridge: "ATTD"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.ok(out)
}
