package web

import (
	"errors"
	"math"
	"strconv"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// How many entries of the trail an answer holds.
const (
	trailUsual = 100
	trailMost  = 1000
)

// line is an entry of the trail as it is listed: with the field names and the form of times of the
// other endpoints.
type line struct {
	Seq       uint64   `json:"seq"`
	Time      string   `json:"time"` // RFC 3339, in UTC with milliseconds
	AccountID string   `json:"account_id"`
	UserID    string   `json:"user_id"`    // who did it, "" for the service itself or somebody unknown
	UserEmail string   `json:"user_email"` // the address of that user then
	Address   string   `json:"ip_address"`
	Action    string   `json:"action"`
	Kind      string   `json:"target_type"`
	Target    string   `json:"target_id"`
	Name      string   `json:"target_name"`
	Fields    []string `json:"fields"`
}

// listTrail is GET /g/audit/list: an account's trail, the newest first. It is not the interface's,
// which has a flag for seeing the trail and no call to do so. account_id is that of the session if
// left out; limit is 100 if left out and 1000 at most; before is the seq of the last entry of the
// page before.
func (c *call) listTrail() (any, error) {
	id, bad := c.set.Text("account_id")
	before, limit, err := c.page()
	if bad == nil {
		bad = err
	}
	if bad == nil {
		bad = c.expect("account_id", "before", "limit")
	}
	out := []line{}
	err = c.view(func(tx *store.Tx, me session.Caller) error {
		if id == "" {
			id = me.Active.ID
		}
		a, place, err := findAccount(tx, me, id)
		if errors.Is(err, errNoAccount) && me.Rule().Role == model.Internal {
			// Of an account that was deleted superusers see what is left.
			if left, lost := tx.AuditTrail(id, 0, 1); lost != nil || len(left) > 0 {
				a, err = model.Account{ID: id}, lost
			}
		}
		if err != nil {
			return err
		}
		if !model.MayViewAudit(me.Rule(), place) {
			return errPrivilege
		}
		if bad != nil {
			return bad
		}
		list, err := tx.AuditTrail(a.ID, before, limit)
		out = out[:0]
		for _, e := range list {
			out = append(out, lineOf(e))
		}
		return err
	})
	return out, err
}

func lineOf(e model.AuditEntry) line {
	fields := e.Fields
	if fields == nil {
		fields = []string{}
	}
	return line{e.Seq, e.Time.UTC().Format("2006-01-02T15:04:05.000Z07:00"), e.AccountID, e.By, e.ByName, e.From,
		string(e.Action), e.Kind, e.Target, e.Name, fields}
}

// page reads before and limit, both numbers that may be left out.
func (c *call) page() (before uint64, limit int, err error) {
	number := func(name string, most uint64) (uint64, error) {
		text, err := c.set.Text(name)
		if text == "" || err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n == 0 || n > most {
			return 0, api.Badf("%s must be a number from 1 to %d", name, most)
		}
		return n, nil
	}
	n, err1 := number("limit", trailMost)
	before, err2 := number("before", math.MaxInt64)
	if n == 0 {
		n = trailUsual
	}
	return before, int(n), errors.Join(err1, err2)
}
