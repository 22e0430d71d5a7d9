package store

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/vms"
)

// caller is who asks for users or accounts by a token that stands for a user. ok is false for a
// token that stands for none, or for one that is gone.
type caller struct {
	user         model.User
	home, active model.Account
	rule         model.Caller
}

func (tx *Tx) caller(p identity.Principal) (c caller, ok bool, err error) {
	if p.Grants == nil || p.User.ID == "" {
		return c, false, nil
	}
	if c.user, err = tx.User(p.User.ID); err == nil {
		c.home, err = tx.Account(c.user.OwnerAccountID)
	}
	if err == nil {
		c.active, err = tx.Account(p.AccountID)
	}
	if errors.Is(err, identity.ErrNotFound) {
		return c, false, nil
	}
	c.rule = model.CallerOf(c.user, c.home)
	return c, err == nil, err
}

func (c caller) may(u model.User, home model.Account, o model.Operation) bool {
	return model.MayManageUser(c.rule, model.PlaceOf(c.home, home), model.TargetKindOf(u), o)
}

// shown is a user as the caller sees one, with all that may be included.
func (c caller) shown(u model.User, home model.Account) vms.User {
	out := wireUser(u)
	out.CreateTimestamp = vms.Ptr(u.Inner.Created)
	if out.TimeZone == nil {
		out.TimeZone = &vms.TimeZone{TimeZone: model.DefaultZone}
	}
	out.Status = &vms.LoginStatus{LoginStatus: vms.LoginActive}
	switch {
	case u.Disabled():
		out.Status.LoginStatus = vms.LoginBlocked
	case bool(u.IsPending):
		out.Status.LoginStatus = vms.LoginPending
	}
	out.LoginDetails = &vms.LoginDetails{}
	if at, ok := model.ReadStamp(u.LastLogin); ok {
		out.LoginDetails.LastLogin = vms.Ptr(at)
	}
	out.ContactDetails = &vms.ContactDetails{AlternateEmail: u.AlternateEmail, Phone: u.Phone}
	out.Permissions = permissions(u)
	var how settings
	_ = json.Unmarshal([]byte(u.JSON), &how) // settings of another form have none
	out.PreviewSettings = &vms.PreviewSettings{ShowMotionBoxes: how.VMS.Boxes}
	out.TimeSettings = &vms.TimeSettings{ShowMilliseconds: how.VMS.Milliseconds, Format: "24h"}
	if how.VMS.AMPM {
		out.TimeSettings.Format = "12h"
	}
	self := u.ID == c.user.ID
	out.EffectivePermissions = &vms.Changeable{Read: true, Edit: self || c.may(u, home, model.OpUpdate),
		Delete: !self && c.may(u, home, model.OpDelete)}
	return out
}

// settings are those of the field json that say how a user wants to see pictures and times.
type settings struct {
	VMS struct {
		AMPM         bool `json:"show_AMPM"`
		Milliseconds bool `json:"milliseconds_display"`
		Boxes        bool `json:"motion_boxes"`
	} `json:"vms"`
}

// permissions are the flags of a user in the interface's words. An administrator has them all.
func permissions(u model.User) *vms.UserPermissions {
	u = u.Settled()
	all := u.Admin()
	is := func(f ...model.Flag) bool {
		for _, one := range f {
			if one {
				return true
			}
		}
		return all
	}
	return &vms.UserPermissions{
		Administrator: all, EditAccounts: is(u.IsEditAccount), LayoutAdministrator: is(u.IsLayoutAdmin),
		CreateLayouts: is(u.IsCreateLayout), EditNoBillingDeviceSettings: is(u.IsEditCameraLess, u.IsEditCameras),
		TurnCamerasOnOff: is(u.IsEditCameraOnOff), EditMotionAreas: is(u.IsEditMotionAreas),
		EditAllCameraSettings: is(u.IsEditCameras), EditUsers: is(u.IsEditUsers),
		EditAdminUsers: is(u.IsEditAdminUsers), EditResellerUsers: is(u.IsEditAllUsers),
		AddEditBridgesCameras: is(u.IsEditAllAndAdd), EditSharing: is(u.IsEditSharing),
		ControlPTZ: is(u.IsPTZLive), EditPTZStations: is(u.IsEditPTZStations),
		ViewLiveVideo: is(u.IsLiveVideo), ViewHistoricVideo: is(u.IsRecordedVideo),
		DownloadVideo: is(u.IsExportVideo), ViewPreviewVideo: is(u.IsPreviewVideo), EditMap: is(u.IsEditMap),
		ViewAuditLog: is(u.IsViewAuditTrail), ViewContract: is(u.IsViewContract),
	}
}

// People are the users of the account that a principal acts in, oldest first, if the rules let the
// principal list them.
func (s *Store) People(p identity.Principal) (list []vms.User, may bool, err error) {
	err = s.View(func(tx *Tx) error {
		list, may = nil, false
		c, ok, err := tx.caller(p)
		if err != nil || !ok {
			return err
		}
		if may = c.may(model.User{}, c.active, model.OpList); !may {
			return nil
		}
		users, err := tx.UsersOf(c.active.ID)
		for _, u := range users {
			if u.ID == c.user.ID || c.may(u, c.active, model.OpGet) {
				list = append(list, c.shown(u, c.active))
			}
		}
		return err
	})
	return list, may, err
}

// Person is a user whom the rules let a principal see: itself, or one that it manages. ok is false
// for others as for none.
func (s *Store) Person(p identity.Principal, id string) (out vms.User, ok bool, err error) {
	err = s.View(func(tx *Tx) error {
		ok = false
		c, is, err := tx.caller(p)
		if err != nil || !is {
			return err
		}
		u, err := tx.User(id)
		if errors.Is(err, identity.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		home, err := tx.Account(u.OwnerAccountID)
		if err != nil {
			return err
		}
		if ok = u.ID == c.user.ID || c.may(u, home, model.OpGet); ok {
			out = c.shown(u, home)
		}
		return nil
	})
	return out, ok, err
}

// ChangeSelf changes the user whom a principal stands for, by the rules of the fields of /g/user,
// and notes it in the trail; ok is false if the principal stands for none. With problems nothing is
// changed.
func (s *Store) ChangeSelf(p identity.Principal, change vms.UserChange) (problems []vms.Problem, ok bool, err error) {
	type field struct {
		wire, name string
		value      *string
	}
	fields := []field{{"firstName", "first_name", change.FirstName}, {"lastName", "last_name", change.LastName},
		{"language", "language", change.Language}, {"timeZone", "timezone", nil}}
	if change.TimeZone != nil {
		fields[3].value = &change.TimeZone.TimeZone
	}
	values := map[string]string{}
	for _, f := range fields {
		if f.value == nil {
			continue
		}
		values[f.name] = *f.value
		if err := model.UserFields.Check(f.name, *f.value); err != nil {
			problems = append(problems, vms.Problem{Argument: f.wire, Reason: vms.ReasonValue, Text: err.Error()})
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, false, err
	}
	err = s.Update(func(tx *Tx) error {
		c, is, err := tx.caller(p)
		if ok = is; err != nil || !ok || problems != nil {
			return err
		}
		if err := json.Unmarshal(raw, &c.user); err != nil {
			return err
		}
		return errors.Join(tx.PutUser(c.user), tx.Record(model.AuditEntry{AccountID: c.home.ID, By: c.user.ID,
			ByName: c.user.Email, Action: model.AuditUpdate, Kind: model.KindUser, Target: c.user.ID,
			Name: c.user.Email, Fields: slices.Sorted(maps.Keys(values))}))
	})
	return problems, ok, err
}

// TrustedClients are the devices at which the user whom a principal stands for signs in without a
// code, oldest first.
func (s *Store) TrustedClients(p identity.Principal) (list []vms.TrustedClient, err error) {
	err = s.View(func(tx *Tx) error {
		list = nil
		c, _, err := tx.caller(p)
		for _, d := range c.user.Inner.Devices {
			used := d.Used
			if used.IsZero() {
				used = d.Since
			}
			list = append(list, vms.TrustedClient{ID: d.ID(), LastLogin: vms.At(used), Description: d.Name})
		}
		return err
	})
	return list, err
}

// AccountsOf are the accounts that a principal may read: its own, and those below it that the rules
// let it read. A principal that stands for no user reads the one that it acts in.
func (s *Store) AccountsOf(p identity.Principal) (list []vms.Account, err error) {
	err = s.View(func(tx *Tx) error {
		list = nil
		c, ok, err := tx.caller(p)
		if err != nil {
			return err
		}
		if !ok {
			a, err := tx.Account(p.AccountID)
			if errors.Is(err, identity.ErrNotFound) {
				return nil
			}
			if err == nil {
				list, err = tx.appendAccount(nil, a, false, vms.Changeable{Read: true})
			}
			return err
		}
		all := []model.Account{c.home}
		if c.rule.Role == model.Internal {
			all, err = tx.Accounts()
		} else if c.home.IsMaster {
			children, err2 := tx.Children(c.home.ID)
			all, err = append(all, children...), err2
		}
		for _, a := range all {
			place := model.PlaceOf(c.home, a)
			may, full := model.MayReadAccount(c.rule, place)
			if err != nil || !may {
				continue
			}
			list, err = tx.appendAccount(list, a, full, vms.Changeable{Read: true, Edit: full,
				Delete: model.MayDeleteAccount(c.rule, place)})
		}
		return err
	})
	return list, err
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// appendAccount adds an account with all that may be included but its devices, which are not known
// here. How its users sign in is for those alone who may edit it.
func (tx *Tx) appendAccount(list []vms.Account, a model.Account, full bool, may vms.Changeable) ([]vms.Account,
	error) {
	out := vms.Account{ID: a.ID, Name: a.Name, Type: "endUserAccount", CustomerID: a.CustomerID, Status: "active",
		TimeZone: &vms.TimeZone{TimeZone: a.Timezone}, WorkingHours: &vms.WorkingHours{Days: map[string]bool{}},
		BrandingInfo: &vms.Branding{Name: a.BrandName, SubDomain: a.BrandSubdomain, SupportEmail: a.BrandSupportEmail,
			SupportPhone: a.BrandSupportPhone, CorporateURL: a.BrandCorpURL}, EffectivePermissions: &may}
	if a.IsMaster {
		out.Type = "reseller"
	}
	switch {
	case a.Is(model.StatusSuspended):
		out.Status = "accountDisabled"
	case !a.Is(model.StatusActive):
		out.Status = "loginDisabled"
	}
	for i, day := range weekdays {
		out.WorkingHours.Days[day] = i < len(a.WorkDays) && a.WorkDays[i] == '1'
	}
	if len(a.WorkHours) == 2 {
		out.WorkingHours.Hours.Start, out.WorkingHours.Hours.End = withColon(a.WorkHours[0]), withColon(a.WorkHours[1])
	}
	if full {
		out.Security = &vms.Security{SessionDuration: a.SessionDuration, LoginAttemptLimit: a.LoginAttemptLimit,
			SessionInactivityTimeout: a.InactiveSessionTimeout, TwoFactorForced: bool(a.IsFactorForced)}
	}
	users, err := tx.UsersOf(a.ID)
	if err != nil {
		return list, err
	}
	children, err := tx.Children(a.ID)
	out.ResourceCounts = &vms.ResourceCounts{Users: len(users), Accounts: len(children)}
	return append(list, out), err
}

// withColon turns HHMM into HH:MM.
func withColon(hhmm string) string {
	if len(hhmm) != 4 {
		return hhmm
	}
	return hhmm[:2] + ":" + hhmm[2:]
}
