package web

import (
	"slices"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// listAccounts is GET /g/account/list: the caller's own account and its sub-accounts, all accounts
// for a superuser.
func (c *call) listAccounts() (any, error) {
	bad := c.expect()
	out := [][]any{}
	err := c.view(func(tx *store.Tx, me session.Caller) error {
		out = out[:0]
		if !model.MayListAccounts(me.Rule()) {
			return errPrivilege
		}
		if bad != nil {
			return bad
		}
		accounts, err := seen(tx, me)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			if c.r.Context().Err() != nil {
				return c.r.Context().Err()
			}
			row, err := c.accountRow(tx, a)
			if err != nil {
				return err
			}
			out = append(out, row)
		}
		return nil
	})
	return out, err
}

// seen are the accounts that the caller may list.
func seen(tx *store.Tx, me session.Caller) ([]model.Account, error) {
	if me.Rule().Role == model.Internal {
		return tx.Accounts()
	}
	out := []model.Account{me.Home}
	if !me.Home.IsMaster {
		return out, nil
	}
	children, err := tx.Children(me.Home.ID)
	return append(out, children...), err
}

// accountRow is an entry of the list, by the interface's positions.
func (c *call) accountRow(tx *store.Tx, a model.Account) ([]any, error) {
	users, err := tx.UsersOf(a.ID)
	if err != nil {
		return nil, err
	}
	devices, err := c.o.Devices.Devices(c.r.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	count := func(kind string, statuses ...string) int { return countOf(devices, kind, statuses...) }
	last := ""
	for _, u := range users {
		last = max(last, u.LastLogin)
	}
	cameras, bridges := count(vms.ActorCamera), count(vms.ActorBridge)
	flag := func(status string) model.Flag { return model.Flag(a.Is(status)) }
	return []any{
		a.ID, a.Name, count(vms.ActorCamera, vms.StatusOnline), cameras, len(users), // 0 to 4
		flag(model.StatusSuspended), flag(model.StatusInactive), flag(model.StatusActive), a.ProductEdition, // 5 to 8
		count(vms.ActorBridge, vms.StatusOnline), bridges, bridges, // 9 to 11
		// 12 to 15
		count(vms.ActorCamera, vms.StatusOff), max(0, a.CameraQuantity-cameras), flag(model.StatusActive), last,
		// 16 to 18; nothing is recorded here, so no retention
		0, a.CustomerID, count(vms.ActorCamera, vms.StatusUnknown),
	}, nil
}

// counter is one of the statistics.
type counter func(c *call, tx *store.Tx, a model.Account) (int, error)

// statistic is a handler of GET /g/account/statistics/…: a number of the account in account_id, by
// default the one that the session is in.
func statistic(name string, n counter) func(*call) (any, error) {
	return func(c *call) (any, error) {
		id, bad := c.set.Text("account_id")
		if bad == nil {
			bad = c.expect("account_id")
		}
		var total int
		err := c.view(func(tx *store.Tx, me session.Caller) error {
			if id == "" {
				id = me.Active.ID
			}
			a, place, err := findAccount(tx, me, id)
			if err != nil {
				return err
			}
			if ok, _ := model.MayReadAccount(me.Rule(), place); !ok {
				return errPrivilege
			}
			if bad != nil {
				return bad
			}
			total, err = n(c, tx, a)
			return err
		})
		return map[string]int{name: total}, err
	}
}

func countChildren(_ *call, tx *store.Tx, a model.Account) (int, error) {
	children, err := tx.Children(a.ID)
	return len(children), err
}

func countUsers(_ *call, tx *store.Tx, a model.Account) (int, error) {
	users, err := tx.UsersOf(a.ID)
	return len(users), err
}

func countOnlineUsers(c *call, tx *store.Tx, a model.Account) (int, error) {
	return c.sessions.Online(tx, a)
}

// countDevices counts those of a kind, and with some status if any is named.
func countDevices(kind string, statuses ...string) counter {
	return func(c *call, _ *store.Tx, a model.Account) (int, error) {
		devices, err := c.o.Devices.Devices(c.r.Context(), a.ID)
		return countOf(devices, kind, statuses...), err
	}
}

func countOf(devices []Device, kind string, statuses ...string) (n int) {
	for _, d := range devices {
		if d.Kind == kind && (len(statuses) == 0 || slices.Contains(statuses, d.Status)) {
			n++
		}
	}
	return n
}
