package model

// Role is what a caller is at home.
type Role int

// The roles of the rules. An account that is no master and has no parent stands where a child
// account does.
const (
	MasterASU  Role = iota // account superuser of a master account
	MasterRU               // regular user of a master account
	ChildASU               // account superuser of any other account
	ChildRU                // regular user of any other account
	Internal               // superuser of the service
	RolesCount = iota
)

// Place is where the target is, seen from the caller's own account. Which account the caller has
// switched to does not matter.
type Place int

// The places. Elsewhere is a parent, a sibling, or an account that has nothing to do with the
// caller's.
const (
	OwnAccount Place = iota
	ChildAccount
	OtherAccount
	PlacesCount = iota
)

// TargetKind is what is acted on.
type TargetKind int

// The kinds of targets. Staff are users that only superusers may make and touch.
const (
	ASU TargetKind = iota
	RU
	Staff
	TargetKindsCount = iota
)

// Operation is what is done.
type Operation int

// The operations. List has no kind of target.
const (
	OpGet Operation = iota
	OpCreate
	OpUpdate
	OpDelete
	OpList
	OpCount = iota
)

// Caller is who acts, with the flags that the rules ask for.
type Caller struct {
	Role                                  Role
	EditAllUsers, EditUsers, EditAdmins   bool // is_edit_all_users, is_edit_users, is_edit_admin_users
	EditAccount, EditSharing, EditDevices bool // is_edit_account, is_edit_sharing, is_edit_all_and_add
	Audit                                 bool // is_view_audit_trail
}

// CallerOf is a user as the rules see it; home is the account that the user belongs to.
func CallerOf(u User, home Account) Caller {
	c := Caller{EditAllUsers: bool(u.IsEditAllUsers), EditUsers: bool(u.IsEditUsers),
		EditAdmins:  bool(u.IsEditAdminUsers),
		EditAccount: bool(u.IsEditAccount), EditSharing: bool(u.IsEditSharing), EditDevices: bool(u.IsEditAllAndAdd),
		Audit: bool(u.IsViewAuditTrail)}
	switch {
	case bool(u.IsSuperuser):
		c.Role = Internal
	case bool(home.IsMaster && u.IsAccountSuperuser):
		c.Role = MasterASU
	case bool(home.IsMaster):
		c.Role = MasterRU
	case bool(u.IsAccountSuperuser):
		c.Role = ChildASU
	default:
		c.Role = ChildRU
	}
	return c
}

// Admin says whether the caller has the powers of an account superuser at a place.
func (c Caller) Admin(p Place) bool {
	return c.Role == Internal || (p == OwnAccount && (c.Role == MasterASU || c.Role == ChildASU)) ||
		(p == ChildAccount && c.Role == MasterASU)
}

// PlaceOf is where target is, seen from home.
func PlaceOf(home, target Account) Place {
	switch {
	case home.ID == target.ID:
		return OwnAccount
	case bool(home.IsMaster) && target.OwnerAccountID == home.ID:
		return ChildAccount
	}
	return OtherAccount
}

// TargetKindOf is what a user is as a target.
func TargetKindOf(u User) TargetKind {
	switch {
	case bool(u.IsSuperuser || u.IsStaff):
		return Staff
	case bool(u.IsAccountSuperuser):
		return ASU
	}
	return RU
}

// need is what a caller must have.
type need func(Caller) bool

func always(Caller) bool             { return true }
func never(Caller) bool              { return false }
func editAllUsers(c Caller) bool     { return c.EditAllUsers }
func editUsers(c Caller) bool        { return c.EditUsers }
func editAdmins(c Caller) bool       { return c.EditAdmins }
func editUsersOrAdmin(c Caller) bool { return c.EditUsers || c.EditAdmins }

// userRow is one of the user management rules: who, where, and what it takes to get, create, update
// and delete targets of a kind and to list them.
type userRow struct {
	rule  int
	role  Role
	place Place
	asu   need
	ru    need
	list  need
}

// userRules are the rules 1 to 6. Rule 7, no rights in a parent or sibling account, is that nothing
// else has a row.
var userRules = []userRow{
	{1, MasterASU, OwnAccount, always, always, always},
	{2, MasterRU, OwnAccount, never, editAllUsers, never},
	{3, ChildASU, OwnAccount, always, always, always},
	{4, ChildRU, OwnAccount, never, editUsers, never},
	{5, MasterASU, ChildAccount, always, always, always},
	{6, MasterRU, ChildAccount, editAdmins, editUsersOrAdmin, editAdmins},
}

// MayManageUser says whether a caller may do an operation to a user of a kind in an account at a
// place. Superusers may do all.
func MayManageUser(c Caller, p Place, k TargetKind, o Operation) bool {
	if c.Role == Internal {
		return true
	}
	for _, row := range userRules {
		if row.role != c.Role || row.place != p {
			continue
		}
		switch {
		case o == OpList:
			return row.list(c)
		case k == ASU:
			return row.asu(c)
		case k == RU:
			return row.ru(c)
		}
	}
	return false
}
