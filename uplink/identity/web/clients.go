package web

import (
	"bytes"
	"errors"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// The trusted devices of user_authenticated_clients, which the interface names without a call for
// them.
const pathClients = "/g/user/authenticated_clients"

const argClient = "client_id"

var errNoClient = api.NewError(api.CodeNotFound, "ClientNotFound", "the user has no trusted device of that id")

// trusted is a device as it is listed.
type trusted struct {
	ID      string     `json:"id"` // as in user_authenticated_clients
	Name    string     `json:"name"`
	Created string     `json:"created"`
	Used    string     `json:"last_used"` // "" if it was not used since
	Current model.Flag `json:"is_current"`
}

// listClients is GET: the user's own, or those of a user whom the caller is in charge of.
func (c *call) listClients() (any, error) {
	in, err := c.text(nil, "id")
	if err != nil {
		return nil, err
	}
	out := []trusted{}
	mine := identity.HashToken(c.set.Device())
	err = c.view(func(tx *store.Tx, me session.Caller) error {
		out = out[:0]
		u, err := inCharge(tx, me, orOwn(in["id"], me))
		for _, d := range u.Inner.Devices {
			out = append(out, trusted{d.ID(), d.Name, model.Stamp(d.Since), model.Stamp(d.Used),
				model.Flag(bytes.Equal(mine, d.Hash))})
		}
		return err
	})
	return out, err
}

// nameClient is POST: it gives a device another name.
func (c *call) nameClient() (any, error) {
	in, err := c.text([]string{argClient, "name"}, "id")
	if err != nil {
		return nil, err
	}
	if in["name"] != model.Name(in["name"]) {
		return nil, api.Badf("name must be one line of at most 100 bytes")
	}
	return c.changeClient(in, func(u *model.User) bool {
		return u.EditDevice(func(d model.Device) bool { return d.ID() == in[argClient] },
			func(d *model.Device) { d.Name = in["name"] })
	})
}

// dropClient is DELETE: the next sign-in at the device needs a code.
func (c *call) dropClient() (any, error) {
	in, err := c.text([]string{argClient}, "id")
	if err != nil {
		return nil, err
	}
	return c.changeClient(in, func(u *model.User) bool { return u.ForgetDevice(in[argClient]) })
}

func (c *call) changeClient(in map[string]string, change func(*model.User) bool) (any, error) {
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		u, err := inCharge(tx, me, orOwn(in["id"], me))
		if err != nil {
			return err
		}
		if !change(&u) {
			return errNoClient
		}
		entry := me.Entry(u.OwnerAccountID, model.AuditUpdate, model.KindUser, u.ID, u.Email)
		entry.Fields = []string{"user_authenticated_clients"}
		return errors.Join(tx.PutUser(u), tx.Record(entry))
	})
	return map[string]string{"id": in[argClient]}, err
}

func orOwn(id string, me session.Caller) string {
	if id == "" {
		return me.User.ID
	}
	return id
}
