package model

// accountRow says what it takes to do something with an account. The interface gives no table for
// accounts; these rows follow what the flags of a user promise ("all account settings; create and
// access sub-accounts", "Sharing and Responders tabs") and rule 7.
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
	return func(c Caller) bool { return c.Admin(p) || c.EditAccount && (p == OwnAccount || c.Role == MasterRU) }
}

func sharing(p Place) need {
	return func(c Caller) bool { return settings(p)(c) || c.EditSharing && p == OwnAccount }
}

// enters is who may switch into a child account.
func enters(c Caller) bool {
	return settings(ChildAccount)(c) || c.Role == MasterRU && (c.EditUsers || c.EditAdmins)
}

var accountRules = []accountRow{
	{OwnAccount, always, settings(OwnAccount), sharing(OwnAccount), settings(OwnAccount), never},
	{ChildAccount, enters, settings(ChildAccount), settings(ChildAccount), settings(ChildAccount),
		administers(ChildAccount)},
	{OtherAccount, never, never, never, never, never},
}

func accountRule(p Place) accountRow {
	for _, row := range accountRules {
		if row.place == p {
			return row
		}
	}
	return accountRow{p, never, never, never, never, never}
}

// MayReadAccount says whether the caller may read an account, and whether all of it.
func MayReadAccount(c Caller, p Place) (ok, full bool) {
	if c.Role == Internal {
		return true, true
	}
	row := accountRule(p)
	return row.get(c), row.full(c)
}

// MayDeleteAccount says whether the caller may delete an account. Nobody deletes the account that
// they belong to, superusers included: nobody would be left to undo it.
func MayDeleteAccount(c Caller, p Place) bool {
	return p != OwnAccount && (c.Role == Internal || accountRule(p).remove(c))
}

// MayCreateAccount says whether the caller may make an account below one that is the caller's own
// (Own) or another.
func MayCreateAccount(c Caller, p Place, parent Account) bool {
	return c.Role == Internal || (p == OwnAccount && bool(parent.IsMaster) &&
		(c.Role == MasterASU || c.Role == MasterRU && c.EditAccount))
}

// MayListAccounts says whether the caller may list accounts.
func MayListAccounts(c Caller) bool {
	return c.Role == Internal || c.Admin(OwnAccount) || c.EditAccount || c.Role == MasterRU &&
		(c.EditUsers || c.EditAdmins)
}

// MaySwitch says whether the caller may enter an account.
func MaySwitch(c Caller, p Place) bool {
	return c.Role == Internal || p == OwnAccount || p == ChildAccount && enters(c)
}

// MayViewAudit says whether the caller may list an account's trail of changes: its administrators,
// who have all permissions, and users with is_view_audit_trail in every account that they may
// enter.
func MayViewAudit(c Caller, p Place) bool {
	return c.Role == Internal || c.Admin(p) || c.Audit && MaySwitch(c, p)
}

// MaySetAccountField says whether the caller may set a field of the account a, which is at place p.
func MaySetAccountField(c Caller, p Place, f Field, a Account) bool {
	if c.Role == Internal {
		return true
	}
	row := accountRule(p)
	switch {
	case f.Class == Sharing && !row.share(c), f.Class != Sharing && !row.update(c):
		return false
	case f.Name == "status":
		return p == ChildAccount && c.Admin(p) // "superusers and account superusers of the parent/owner account"
	case f.Name == "is_custom_brand" && !bool(a.IsCustomBrandAllowed):
		return false
	case f.Name == "is_master_video_disabled" && p == OwnAccount && a.Child() && !bool(a.IsVideoDisabledAllowed):
		return false
	case f.Name == "is_master_video_disabled" && p == ChildAccount:
		return false // it is the sub-account that blocks the reseller
	}
	switch f.Who {
	case Superusers, ByVerify:
		return false
	case Parent:
		return p == ChildAccount
	case Admins:
		return c.Admin(p)
	}
	return p != OwnAccount || !taken(f, a)
}

// taken says whether the reseller took a field away from the users of a sub-account.
func taken(f Field, a Account) bool {
	if !a.Child() || f.Class == Sharing {
		return false
	}
	return bool(a.IsDisableAllSettings || a.IsAdvancedDisabled && f.Class == Advanced || a.IsBillingDisabled &&
		f.Class == Billing)
}
