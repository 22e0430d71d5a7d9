package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	roleNames = []string{"master ASU", "master RU", "child ASU", "child RU", "superuser"}
	placeName = []string{"own account", "child account", "elsewhere"}
	kindNames = []string{"ASU", "RU", "staff"}
	opNames   = []string{"get", "create", "update", "delete", "list"}
)

// spelled is the table of user management rules written out, cell by cell: role, place, and what it
// takes for ASUs, for RUs, and to list. "-" is never, "+" always, else the flags of which one is
// needed: all is_edit_all_users, users is_edit_users, admin is_edit_admin_users.
var spelled = map[string][3]string{
	"master ASU, own account":   {"+", "+", "+"},
	"master ASU, child account": {"+", "+", "+"},
	"master ASU, elsewhere":     {"-", "-", "-"},
	"master RU, own account":    {"-", "all", "-"},
	"master RU, child account":  {"admin", "users|admin", "admin"},
	"master RU, elsewhere":      {"-", "-", "-"},
	"child ASU, own account":    {"+", "+", "+"},
	"child ASU, child account":  {"-", "-", "-"},
	"child ASU, elsewhere":      {"-", "-", "-"},
	"child RU, own account":     {"-", "users", "-"},
	"child RU, child account":   {"-", "-", "-"},
	"child RU, elsewhere":       {"-", "-", "-"},
}

func granted(cell string, all, users, admin bool) bool {
	switch cell {
	case "+":
		return true
	case "all":
		return all
	case "users":
		return users
	case "admin":
		return admin
	case "users|admin":
		return users || admin
	}
	return false
}

// Every caller kind, with every set of the three flags, at every place, on every kind of target, in
// every operation.
func TestUserRulesExhaustively(t *testing.T) {
	cells, allowed := 0, 0
	for role := range Role(RolesCount) {
		for flags := range 8 {
			c := Caller{Role: role, EditAllUsers: flags&1 > 0, EditUsers: flags&2 > 0, EditAdmins: flags&4 > 0,
				EditAccount: true, EditSharing: true, EditDevices: true, Audit: true} // these give no rights over users
			for place := range Place(PlacesCount) {
				for kind := range TargetKind(TargetKindsCount) {
					for op := range Operation(OpCount) {
						want := role == Internal
						if !want {
							row, ok := spelled[roleNames[role]+", "+placeName[place]]
							require.True(t, ok)
							cell := map[bool]string{true: row[2],
								false: map[TargetKind]string{ASU: row[0], RU: row[1], Staff: "-"}[kind]}[op == OpList]
							want = granted(cell, c.EditAllUsers, c.EditUsers, c.EditAdmins)
						}
						cells++
						if want {
							allowed++
						}
						require.Equal(t, want, MayManageUser(c, place, kind, op), "%s (flags %03b), %s, %s, %s",
							roleNames[role], flags, placeName[place], kindNames[kind], opNames[op])
					}
				}
			}
		}
	}
	require.Equal(t, 5*8*3*3*5, cells)
	require.Equal(t, 708, allowed, "counted by hand: 360 of superusers, 176 and 88 of ASUs, 16, 52 and 16 of RUs")
}

// Callers, places and kinds come from the records as the rules mean them.
func TestWhoIsWho(t *testing.T) {
	master, child, sibling := Account{ID: "m", IsMaster: true}, Account{ID: "c", OwnerAccountID: "m"},
		Account{ID: "s", OwnerAccountID: "m"}
	other, grandchild := Account{ID: "o"}, Account{ID: "g", OwnerAccountID: "c"}
	for _, c := range []struct {
		home, target Account
		want         Place
	}{
		{master, master, OwnAccount}, {master, child, ChildAccount}, {child, master, OtherAccount},
		{child, sibling, OtherAccount}, {child, child, OwnAccount},
		{other, child, OtherAccount}, {master, other, OtherAccount}, {other, master, OtherAccount},
		{master, grandchild, OtherAccount}, {child, grandchild, OtherAccount},
	} {
		require.Equal(t, c.want, PlaceOf(c.home, c.target), "%s sees %s", c.home.ID, c.target.ID)
	}
	for _, c := range []struct {
		user User
		home Account
		want Role
	}{
		{User{IsAccountSuperuser: true}, master, MasterASU}, {User{}, master, MasterRU},
		{User{IsAccountSuperuser: true}, child, ChildASU},
		{User{}, other, ChildRU}, {User{IsSuperuser: true}, child, Internal}, {User{IsStaff: true}, master, MasterRU},
		{User{IsUserAdmin: true, IsDeviceAdmin: true}, master, MasterRU},
	} {
		require.Equal(t, c.want, CallerOf(c.user, c.home).Role)
	}
	require.Equal(t, Staff, TargetKindOf(User{IsSuperuser: true, IsAccountSuperuser: true}))
	require.Equal(t, ASU, TargetKindOf(User{IsAccountSuperuser: true}))
	require.Equal(t, RU, TargetKindOf(User{IsUserAdmin: true}))
}

// Account rules, cell by cell.
func TestAccountRules(t *testing.T) {
	master := Account{ID: "m", IsMaster: true}
	type can struct{ get, full, switchTo, list, create, remove bool }
	for name, c := range map[string]struct {
		caller Caller
		place  Place
		want   can
	}{
		"superuser, own":       {Caller{Role: Internal}, OwnAccount, can{true, true, true, true, true, false}},
		"superuser, elsewhere": {Caller{Role: Internal}, OtherAccount, can{true, true, true, true, true, true}},
		"master ASU, own":      {Caller{Role: MasterASU}, OwnAccount, can{true, true, true, true, true, false}},
		"master ASU, child":    {Caller{Role: MasterASU}, ChildAccount, can{true, true, true, true, false, true}},
		"master ASU, elsewhere": {Caller{Role: MasterASU}, OtherAccount,
			can{false, false, false, true, false, false}},
		"master RU, own":   {Caller{Role: MasterRU}, OwnAccount, can{true, false, true, false, false, false}},
		"master RU, child": {Caller{Role: MasterRU}, ChildAccount, can{}},
		"master RU users, child": {Caller{Role: MasterRU, EditUsers: true}, ChildAccount,
			can{true, false, true, true, false, false}},
		"master RU account, own": {Caller{Role: MasterRU, EditAccount: true}, OwnAccount,
			can{true, true, true, true, true, false}},
		"master RU account, child": {Caller{Role: MasterRU, EditAccount: true}, ChildAccount,
			can{true, true, true, true, false, false}},
		"master RU, elsewhere": {Caller{Role: MasterRU, EditAccount: true, EditUsers: true, EditAdmins: true},
			OtherAccount, can{list: true}},
		"child ASU, own":       {Caller{Role: ChildASU}, OwnAccount, can{true, true, true, true, false, false}},
		"child ASU, elsewhere": {Caller{Role: ChildASU}, OtherAccount, can{list: true}},
		"child RU, own":        {Caller{Role: ChildRU}, OwnAccount, can{get: true, switchTo: true}},
		"child RU account, own": {Caller{Role: ChildRU, EditAccount: true}, OwnAccount,
			can{true, true, true, true, false, false}},
		"child RU all flags, other": {Caller{Role: ChildRU, EditAccount: true, EditUsers: true, EditAdmins: true,
			EditAllUsers: true, EditSharing: true}, OtherAccount, can{list: true}},
		"child RU all flags, childs": {Caller{Role: ChildRU, EditAccount: true, EditUsers: true, EditAdmins: true},
			ChildAccount, can{list: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var got can
			got.get, got.full = MayReadAccount(c.caller, c.place)
			got.switchTo, got.list = MaySwitch(c.caller, c.place), MayListAccounts(c.caller)
			got.create, got.remove = MayCreateAccount(c.caller, c.place, master), MayDeleteAccount(c.caller, c.place)
			require.Equal(t, fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", got))
		})
	}
	require.False(t, MayCreateAccount(Caller{Role: ChildASU}, OwnAccount, Account{ID: "c"}),
		"only a master has sub-accounts")
}

func field(t *testing.T, table Fields, name string) Field {
	t.Helper()
	f, ok := table.Find(name)
	require.True(t, ok, name)
	return f
}

func TestAccountFields(t *testing.T) {
	child := Account{ID: "c", OwnerAccountID: "m"}
	locked, noBilling := child, child
	locked.IsDisableAllSettings, noBilling.IsAdvancedDisabled = true, true
	brand, video := child, child
	brand.IsCustomBrandAllowed, video.IsVideoDisabledAllowed = true, true
	masterASU, asu, ru := Caller{Role: MasterASU}, Caller{Role: ChildASU}, Caller{Role: ChildRU}
	for name, c := range map[string]struct {
		caller  Caller
		place   Place
		field   string
		account Account
		want    bool
	}{
		"own status":              {asu, OwnAccount, "status", child, false},
		"child's status":          {masterASU, ChildAccount, "status", child, true},
		"child's status by RU":    {Caller{Role: MasterRU, EditAccount: true}, ChildAccount, "status", child, false},
		"superuser's":             {Caller{Role: Internal}, OwnAccount, "status", child, true},
		"name":                    {asu, OwnAccount, "name", child, true},
		"name by RU":              {ru, OwnAccount, "name", child, false},
		"name by is_edit_account": {Caller{Role: ChildRU, EditAccount: true}, OwnAccount, "name", child, true},
		"name elsewhere":          {asu, OtherAccount, "name", child, false},
		"master flag":             {masterASU, OwnAccount, "is_master", child, false},
		"customer id by child":    {asu, OwnAccount, "customer_id", child, false},
		"customer id by parent":   {masterASU, ChildAccount, "customer_id", child, true},
		"all disabled":            {asu, OwnAccount, "name", locked, false},
		"all disabled, sharing":   {asu, OwnAccount, "camera_shares", locked, true},
		"all disabled, parent":    {masterASU, ChildAccount, "name", locked, true},
		"advanced":                {asu, OwnAccount, "default_cluster", noBilling, false},
		"not advanced":            {asu, OwnAccount, "name", noBilling, true},
		"sharing by flag":         {Caller{Role: ChildRU, EditSharing: true}, OwnAccount, "camera_shares", child, true},
		"more by that flag":       {Caller{Role: ChildRU, EditSharing: true}, OwnAccount, "name", child, false},
		"brand":                   {asu, OwnAccount, "is_custom_brand", child, false},
		"brand allowed":           {asu, OwnAccount, "is_custom_brand", brand, true},
		"video":                   {asu, OwnAccount, "is_master_video_disabled", child, false},
		"video allowed":           {asu, OwnAccount, "is_master_video_disabled", video, true},
		"factor by RU": {Caller{Role: ChildRU, EditAccount: true}, OwnAccount, "is_two_factor_authentication_forced",
			child, false},
		"factor by ASU": {asu, OwnAccount, "is_two_factor_authentication_forced", child, true},
	} {
		require.Equal(t, c.want, MaySetAccountField(c.caller, c.place, field(t, AccountFields, c.field), c.account),
			name)
	}
}

func TestUserFields(t *testing.T) {
	asu, ru, super := Caller{Role: ChildASU}, Caller{Role: ChildRU, EditUsers: true}, Caller{Role: Internal}
	me := User{IsEditUsers: true, IsPTZLive: true}
	with := User{IsPTZLive: true, IsEditAccount: true}
	for name, c := range map[string]struct {
		caller        Caller
		field         string
		rights, self  bool
		before, after User
		want          bool
	}{
		"superuser flag by ASU":           {asu, "is_superuser", true, false, User{}, User{IsSuperuser: true}, false},
		"superuser flag by superuser":     {super, "is_superuser", true, false, User{}, User{IsSuperuser: true}, true},
		"ASU by ASU":                      {asu, "is_account_superuser", true, false, User{}, User{}, true},
		"ASU by RU with rights":           {ru, "is_account_superuser", true, false, User{}, User{}, false},
		"cameras by RU":                   {ru, "camera_access", true, false, User{}, User{}, false},
		"permission that I have":          {ru, "is_ptz_live", true, false, User{}, with, true},
		"permission that I lack":          {ru, "is_edit_account", true, false, User{}, with, false},
		"permission that the target has":  {ru, "is_edit_account", true, false, with, with, true},
		"taking a permission that I lack": {ru, "is_edit_account", true, false, with, User{}, true},
		"permission that ASU lacks":       {asu, "is_edit_account", true, false, User{}, with, true},
		"my own permission":               {ru, "is_ptz_live", true, true, User{}, with, false},
		"my name":                         {Caller{Role: ChildRU}, "first_name", false, true, User{}, User{}, true},
		"my hours": {Caller{Role: ChildRU}, "access_period", false, true, User{}, User{},
			false},
		"my hours, where I manage users": {ru, "access_period", true, true, User{}, User{}, false},
		"my employee id, where I manage": {ru, "json", true, true, User{JSON: "{}"},
			User{JSON: `{"vms":{"employee_id":"1"}}`}, false},
		"my name, where I manage users": {ru, "first_name", true, true, User{}, User{}, true},
		"my hours as ASU":               {asu, "access_period", true, true, User{}, User{}, true},
		"my employee id": {Caller{Role: ChildRU}, "json", false, true, User{JSON: "{}"},
			User{JSON: `{"vms":{"employee_id":"1"}}`}, false},
		"my settings": {Caller{Role: ChildRU}, "json", false, true, User{JSON: "{}"},
			User{JSON: `{"vms":{"motion_boxes":true}}`}, true},
		"another's name without rights": {Caller{Role: ChildRU}, "first_name", false, false, User{}, User{}, false},
		"address by ASU":                {asu, "email", true, false, User{}, User{}, false},
		"address by superuser":          {super, "email", true, false, User{}, User{}, false},
		"another's employee id with right": {ru, "json", true, false, User{JSON: "{}"},
			User{JSON: `{"vms":{"employee_id":"1"}}`}, true},
	} {
		require.Equal(t, c.want, MaySetUserField(c.caller, OwnAccount, field(t, UserFields, c.field), c.rights,
			c.self, me, c.before, c.after), name)
	}
}
