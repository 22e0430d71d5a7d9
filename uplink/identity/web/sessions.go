package web

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// The sessions of a user. Not the interface's, which ends the caller's own only.
const pathSessions = "/g/user/sessions"

const argSession = "session_id"

var errNoSession = api.NewError(api.CodeNotFound, "SessionNotFound", "the user has no session of that id")

// shownSession is a session as it is listed.
type shownSession struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"` // what its client said that it is, "" if that is not known
	From    string     `json:"ip_address"`
	Created string     `json:"created"`
	Used    string     `json:"last_used"`
	Current model.Flag `json:"is_current"`
}

// origin is where the request comes from, for a session that it opens.
func (c *call) origin() session.Origin { return session.Origin{Addr: c.from, Agent: c.r.UserAgent()} }

// listSessions is GET: the user's own that are still good, or those of a user whom the caller is in
// charge of, the one that was used last first.
func (c *call) listSessions() (any, error) {
	in, err := c.text(nil, "id")
	if err != nil {
		return nil, err
	}
	out := []shownSession{}
	err = c.view(func(tx *store.Tx, me session.Caller) error {
		out = out[:0]
		_, list, err := sessionsOf(tx, me, in["id"])
		for _, s := range list {
			out = append(out, shownSession{s.ID(), s.Agent, s.From, model.Stamp(s.Created), model.Stamp(s.Seen),
				model.Flag(bytes.Equal(s.Hash, me.Session.Hash))})
		}
		return err
	})
	return out, err
}

// sessionsOf are those of a user that are still good.
func sessionsOf(tx *store.Tx, me session.Caller, id string) (u model.User, list []model.Session, err error) {
	u, err = inCharge(tx, me, orOwn(id, me))
	if err != nil {
		return u, nil, err
	}
	home, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return u, nil, err
	}
	list, err = tx.SessionsOf(u.ID)
	idle := time.Duration(home.InactiveSessionTimeout) * time.Second
	list = slices.DeleteFunc(list, func(s model.Session) bool { return !s.Live(tx.Now(), idle) })
	slices.SortFunc(list, func(a, b model.Session) int {
		return cmp.Or(b.Seen.Compare(a.Seen), bytes.Compare(a.Hash, b.Hash))
	})
	return u, list, err
}

// endSession is DELETE: the session ends, and the tokens that it gave with it.
func (c *call) endSession() (any, error) {
	in, err := c.text([]string{argSession}, "id")
	if err != nil {
		return nil, err
	}
	err = c.update(func(tx *store.Tx, me session.Caller) error {
		u, list, err := sessionsOf(tx, me, in["id"])
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(s model.Session) bool { return s.ID() == in[argSession] })
		if at < 0 {
			return errNoSession
		}
		return errors.Join(tx.DeleteSession(list[at].Hash),
			tx.Record(me.Entry(u.OwnerAccountID, model.AuditSignOut, model.KindUser, u.ID, u.Email)))
	})
	return map[string]string{"id": in[argSession]}, err
}
