package web

import (
	"errors"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// target is a user that a call is about, with its account and where that is.
type target struct {
	user    model.User
	account model.Account
	place   model.Place
	self    bool
}

// may says what the rules allow the caller to do to the member.
func (m target) may(me session.Caller, o model.Operation) bool {
	return model.MayManageUser(me.Rule(), m.place, model.TargetKindOf(m.user), o)
}

// member finds the user of an id. The error is 404 or a fault.
func findTarget(tx *store.Tx, me session.Caller, id string) (target, error) {
	u, err := tx.User(id)
	if err != nil {
		return target{}, found(err, errNoUser)
	}
	a, err := tx.Account(u.OwnerAccountID)
	return target{u, a, me.Place(a), u.ID == me.User.ID}, err
}

// getUser is GET /g/user. Without an id it is the caller, as the public service does.
func (c *call) getUser() (any, error) {
	id, bad := c.set.Text("id")
	if bad == nil {
		bad = c.expect("id")
	}
	var shown model.User
	err := c.view(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			id = me.User.ID
		}
		m, err := findTarget(tx, me, id)
		if err != nil {
			return err
		}
		if !m.self && !m.may(me, model.OpGet) {
			return errPrivilege
		}
		active := ""
		if m.self {
			active = me.Active.ID
		}
		shown = m.user.Shown(tx.Now(), m.account, active, c.sessions.Cluster())
		return bad
	})
	return shown, err
}

// putUser is PUT /g/user: a user of the account that the session is in, who gets a mail to set a
// password.
func (c *call) putUser() (any, error) {
	change, bad := model.UserFields.Parse(c.set, model.UseCreate)
	var made model.User
	var mails []notify.Message
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		change, err := change.Without(struct{}{}) // a copy to take things from
		if err != nil {
			return err
		}
		before := model.NewUser()
		before.OwnerAccountID = me.Active.ID
		after, forbidden, err := c.changeUser(tx, me,
			target{user: before, account: me.Active, place: me.Place(me.Active)}, change, model.OpCreate)
		if err != nil {
			return err
		}
		if err := c.last(bad, forbidden, c.taken(tx, "email", forbidden)); err != nil {
			return err
		}
		if made, err = tx.AddUser(after); err != nil {
			return err
		}
		l, err := c.sessions.Invite(tx, made, me.Active, notify.UserCreated)
		mails = []notify.Message{l}
		return errors.Join(err, tx.Record(me.Entry(me.Active.ID, model.AuditCreate, model.KindUser, made.ID,
			made.Email)))
	})
	if err != nil {
		return nil, err
	}
	c.sessions.Send(mails...)
	return map[string]string{"id": made.ID}, nil
}

// postUser is POST /g/user. Of the record that authorize gives, which clients send back, user_id
// repeats the id.
func (c *call) postUser() (any, error) {
	id, badID := c.id(c.set.Names()...)
	change, bad := model.UserFields.Parse(c.set, model.UseUpdate, "id", "user_id")
	if again, err := c.set.Text("user_id"); bad == nil && (err != nil || again != id && c.set.Has("user_id")) {
		bad = api.Badf("user_id is not the id")
	}
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return badID
		}
		m, err := findTarget(tx, me, id)
		if err != nil {
			return err
		}
		shown := m.user.Shown(tx.Now(), m.account, activeOf(me, m), c.sessions.Cluster())
		rest, err := change.Without(shown)
		if err != nil {
			return err
		}
		names := rest.Names()
		after, forbidden, err := c.changeUser(tx, me, m, rest, model.OpUpdate)
		if err != nil {
			return err
		}
		if err := c.last(bad, badID, change.Locked(shown), forbidden); err != nil || len(names) == 0 {
			return err
		}
		entry := me.Entry(m.account.ID, model.AuditUpdate, model.KindUser, after.ID, after.Email)
		entry.Fields = names
		return errors.Join(tx.PutUser(after), tx.Record(entry))
	})
	return map[string]string{"id": id}, err
}

func activeOf(me session.Caller, m target) string {
	if m.self {
		return me.Active.ID
	}
	return ""
}

// changeUser is the member after a change. forbidden is the 403 if the caller may not make it: both
// what the user is and what the user becomes must be the caller's to touch.
func (c *call) changeUser(tx *store.Tx, me session.Caller, m target, change model.Change,
	o model.Operation) (after model.User, forbidden, err error) {
	after = m.user
	var access [][]string
	asked := change.Rows()
	withAccess, err := change.Take("camera_access", &access)
	if err != nil {
		return after, nil, err
	}
	if err := change.Apply(&after); err != nil {
		return after, nil, err
	}
	after = after.Settled()
	who, self := me.Rule(), m.self && o == model.OpUpdate
	rights := m.may(me, o) && model.MayManageUser(who, m.place, model.TargetKindOf(after), o)
	if !rights && !self {
		return after, errPrivilege, nil
	}
	for _, row := range asked {
		if o == model.OpCreate && row.Who == model.ByVerify {
			continue // what is verified later has to be set once
		}
		if !model.MaySetUserField(who, m.place, row, rights, self, me.User, m.user, after) {
			return after, errPrivilege, nil
		}
	}
	if withAccess {
		known, err := c.knows(tx, m.account)
		if err != nil {
			return after, nil, err
		}
		after.CameraAccess, err = model.ApplyAccess(after.CameraAccess, access, known)
		if e := (*api.Error)(nil); o == model.OpCreate && errors.As(err, &e) {
			err = api.Badf("%s", e.Message) // PUT lists no 404
		}
		if err != nil {
			return after, nil, err
		}
	}
	return after, nil, nil
}

// deleteUser is DELETE /g/user. Nobody deletes themselves.
func (c *call) deleteUser() (any, error) {
	id, bad := c.id()
	err := c.update(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			return bad
		}
		m, err := findTarget(tx, me, id)
		if err != nil {
			return err
		}
		if m.self || !m.may(me, model.OpDelete) {
			return errPrivilege
		}
		if bad != nil {
			return bad
		}
		return errors.Join(tx.DeleteUser(id), tx.Record(me.Entry(m.account.ID, model.AuditDelete, model.KindUser,
			m.user.ID, m.user.Email)))
	})
	return nil, err
}

// listUsers is GET /g/user/list: the users of the account that the session is in. With an address
// it is that user alone, looked for in the sub-accounts of a master account too.
func (c *call) listUsers() (any, error) {
	email, err := c.set.Text("email")
	if err != nil {
		return nil, errPrivilege // the list of this endpoint knows no 400
	}
	out := [][]any{}
	err = c.view(func(tx *store.Tx, me session.Caller) error {
		out = out[:0]
		if !model.MayManageUser(me.Rule(), me.Place(me.Active), model.RU, model.OpList) {
			return errPrivilege
		}
		users, err := c.listed(tx, me, email)
		for _, u := range users {
			out = append(out, []any{u.ID, u.FirstName, u.LastName, u.Email, u.Permissions(), u.LastLogin})
		}
		return err
	})
	return out, err
}

func (c *call) listed(tx *store.Tx, me session.Caller, email string) ([]model.User, error) {
	if email == "" {
		return tx.UsersOf(me.Active.ID)
	}
	u, err := tx.UserByEmail(email)
	if errors.Is(err, identity.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	a, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return nil, err
	}
	if a.ID == me.Active.ID || model.PlaceOf(me.Active, a) == model.ChildAccount &&
		model.MayManageUser(me.Rule(), me.Place(a), model.RU, model.OpList) {
		return []model.User{u}, nil
	}
	return nil, nil
}
