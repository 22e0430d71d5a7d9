package rule

import (
	"vmsbridge/uplink/identity/record"
)

// accountRow says what it takes to do something with an account. The document gives no table for accounts; these rows
// follow what the flags of §2.2 promise ("all account settings; create and access sub-accounts", "Sharing and Responders
// tabs") and rule 7.
type accountRow struct {
	place  Place
	get    need // the record without its secrets
	full   need // the record with its secrets
	share  need // set the fields of class Sharing
	update need
	remove need
}

func administers(p Place) need { return func(c Caller) bool { return c.Admin(p) } }

func settings(p Place) need {
	return func(c Caller) bool { return c.Admin(p) || c.EditAccount && (p == Own || c.Role == MasterRU) }
}

func sharing(p Place) need {
	return func(c Caller) bool { return settings(p)(c) || c.EditSharing && p == Own }
}

// enters is who may switch into a child account.
func enters(c Caller) bool {
	return settings(Child)(c) || c.Role == MasterRU && (c.EditUsers || c.EditAdmins)
}

var accountRules = []accountRow{
	{Own, always, settings(Own), sharing(Own), settings(Own), never},
	{Child, enters, settings(Child), settings(Child), settings(Child), administers(Child)},
	{Elsewhere, never, never, never, never, never},
}

func accountRule(p Place) accountRow {
	for _, row := range accountRules {
		if row.place == p {
			return row
		}
	}
	return accountRow{p, never, never, never, never, never}
}

// GetAccount says whether the caller may read an account, and whether all of it.
func GetAccount(c Caller, p Place) (ok, full bool) {
	if c.Role == Internal {
		return true, true
	}
	row := accountRule(p)
	return row.get(c), row.full(c)
}

// DeleteAccount says whether the caller may delete an account. Nobody deletes the account that they belong to, superusers
// included: nobody would be left to undo it.
func DeleteAccount(c Caller, p Place) bool {
	return p != Own && (c.Role == Internal || accountRule(p).remove(c))
}

// CreateAccount says whether the caller may make an account below one that is the caller's own (Own) or another.
func CreateAccount(c Caller, p Place, parent record.Account) bool {
	return c.Role == Internal || (p == Own && bool(parent.IsMaster) && (c.Role == MasterASU || c.Role == MasterRU && c.EditAccount))
}

// ListAccounts says whether the caller may list accounts.
func ListAccounts(c Caller) bool {
	return c.Role == Internal || c.Admin(Own) || c.EditAccount || c.Role == MasterRU && (c.EditUsers || c.EditAdmins)
}

// Switch says whether the caller may enter an account.
func Switch(c Caller, p Place) bool { return c.Role == Internal || p == Own || p == Child && enters(c) }

// ViewTrail says whether the caller may list an account's trail of changes: its administrators, who have all permissions,
// and users with is_view_audit_trail in every account that they may enter.
func ViewTrail(c Caller, p Place) bool {
	return c.Role == Internal || c.Admin(p) || c.Audit && Switch(c, p)
}

// AccountField says whether the caller may set a field of the account a, which is at place p.
func AccountField(c Caller, p Place, f record.Field, a record.Account) bool {
	if c.Role == Internal {
		return true
	}
	row := accountRule(p)
	switch {
	case f.Class == record.Sharing && !row.share(c), f.Class != record.Sharing && !row.update(c):
		return false
	case f.Name == "status":
		return p == Child && c.Admin(p) // "superusers and account superusers of the parent/owner account"
	case f.Name == "is_custom_brand" && !bool(a.IsCustomBrandAllowed):
		return false
	case f.Name == "is_master_video_disabled" && p == Own && a.Child() && !bool(a.IsVideoDisabledAllowed):
		return false
	case f.Name == "is_master_video_disabled" && p == Child:
		return false // it is the sub-account that blocks the reseller
	}
	switch f.Who {
	case record.Superusers, record.ByVerify:
		return false
	case record.Parent:
		return p == Child
	case record.Admins:
		return c.Admin(p)
	}
	return p != Own || !taken(f, a)
}

// taken says whether the reseller took a field away from the users of a sub-account.
func taken(f record.Field, a record.Account) bool {
	if !a.Child() || f.Class == record.Sharing {
		return false
	}
	return bool(a.IsDisableAllSettings || a.IsAdvancedDisabled && f.Class == record.Advanced || a.IsBillingDisabled && f.Class == record.Billing)
}
