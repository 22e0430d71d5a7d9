package model

import (
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// User is the record of a user. It is copied by value; its slices are not changed in place once a
// record is stored.
type User struct {
	ID        string `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
	UID       string `json:"uid"`

	Phone          string `json:"phone"`
	MobilePhone    string `json:"mobile_phone"`
	Street         Texts  `json:"street"`
	City           string `json:"city"`
	State          string `json:"state"`
	Country        string `json:"country"`
	PostalCode     string `json:"postal_code"`
	AlternateEmail string `json:"alternate_email"`
	SMSPhone       string `json:"sms_phone"`

	OwnerAccountID   string `json:"owner_account_id"`
	ActiveAccountID  string `json:"active_account_id"`
	Clients          Texts  `json:"user_authenticated_clients"`
	AccountUTCOffset int    `json:"account_utc_offset"`
	AccountWorkDays  string `json:"account_work_days"`
	AccountWorkHours Texts  `json:"account_work_hours"`
	Language         string `json:"language"`
	InactiveTimeout  int    `json:"inactive_session_timeout"`
	UTCOffset        int    `json:"utc_offset"`
	Timezone         string `json:"timezone"`
	LastLogin        string `json:"last_login"`
	JSON             string `json:"json"`
	CameraAccess     Lists  `json:"camera_access"`
	Layouts          Texts  `json:"layouts"`
	NotifyPeriod     Texts  `json:"notify_period"`
	NotifyRule       Texts  `json:"notify_rule"`
	BrandSubdomain   string `json:"active_brand_subdomain"`
	AccountMapLines  Object `json:"account_map_lines"`
	AccessPeriod     Texts  `json:"access_period"`
	UserLogLevel     int    `json:"user_log_level"`
	SavedFilters     Lists  `json:"saved_filters"`
	TempAccess       Texts  `json:"temp_account_access"`

	IsSuperuser         Flag `json:"is_superuser"`
	IsStaff             Flag `json:"is_staff"`
	IsAccountSuperuser  Flag `json:"is_account_superuser"`
	IsActive            Flag `json:"is_active"`
	IsPending           Flag `json:"is_pending"`
	IsMaster            Flag `json:"is_master"`
	IsUserAdmin         Flag `json:"is_user_admin"`
	IsDeviceAdmin       Flag `json:"is_device_admin"`
	IsLayoutAdmin       Flag `json:"is_layout_admin"`
	IsCreateLayout      Flag `json:"is_user_create_layout"`
	IsEditMap           Flag `json:"is_edit_map"`
	IsLiveVideo         Flag `json:"is_live_video"`
	IsExportVideo       Flag `json:"is_export_video"`
	IsRecordedVideo     Flag `json:"is_recorded_video"`
	IsPreviewVideo      Flag `json:"is_view_preview_video"`
	IsEditCameras       Flag `json:"is_edit_cameras"`
	IsEditCameraOnOff   Flag `json:"is_edit_camera_on_off"`
	IsEditCameraLess    Flag `json:"is_edit_camera_less_billing"`
	IsEditAllAndAdd     Flag `json:"is_edit_all_and_add"`
	IsEditMotionAreas   Flag `json:"is_edit_motion_areas"`
	IsEditPTZStations   Flag `json:"is_edit_ptz_stations"`
	IsPTZLive           Flag `json:"is_ptz_live"`
	IsEditSharing       Flag `json:"is_edit_sharing"`
	IsEditAccount       Flag `json:"is_edit_account"`
	IsEditUsers         Flag `json:"is_edit_users"`
	IsEditAdminUsers    Flag `json:"is_edit_admin_users"`
	IsEditAllUsers      Flag `json:"is_edit_all_users"`
	IsViewContract      Flag `json:"is_view_contract"`
	IsViewAuditTrail    Flag `json:"is_view_audit_trail"`
	IsMobileBranded     Flag `json:"is_mobile_branded"`
	IsFactorEnabled     Flag `json:"is_two_factor_authentication_enabled"`
	IsNotificationsOff  Flag `json:"is_system_notifications_disabled"`
	IsNotifyEnable      Flag `json:"is_notify_enable"`
	IsBranded           Flag `json:"is_branded"`
	IsTermsNoncompliant Flag `json:"is_terms_noncompliant"`
	IsSMSPicture        Flag `json:"is_sms_include_picture"`

	Inner UserInner `json:"-"`
}

// UserInner is what the service keeps of a user beyond the interface's record. It is never printed.
type UserInner struct {
	Created      time.Time `json:"created"`
	PasswordHash string    `json:"passwordHash,omitempty"` // "" until a password is set
	PasswordSet  time.Time `json:"passwordSet,omitzero"`
	// Locked says since when and why the user is locked out; only support lifts it.
	Locked    time.Time `json:"locked,omitzero"`
	LockedWhy string    `json:"lockedWhy,omitempty"`
	// Ousted is when the user was last locked or disabled: what clients had from sign-ins before
	// that is worth nothing.
	Ousted time.Time `json:"ousted,omitzero"`
	// Mailbox is the folded address whose mail the user has read: they came by a link that was sent
	// there.
	Mailbox string `json:"mailbox,omitempty"`
	// CodeFailures counts wrong two-factor codes since the last right one.
	CodeFailures int `json:"codeFailures,omitempty"`
	// Devices are the hashes of tfa_key values under which this user is trusted.
	Devices []Device `json:"devices,omitempty"`
	// MarkKey makes the marks of devices at which the user signed in, nil until there is one. They
	// open nothing.
	MarkKey []byte `json:"markKey,omitempty"`
	// Consents are what the user lets clients of OAuth do.
	Consents []Consent `json:"consents,omitempty"`
	Terms    []string  `json:"terms,omitempty"` // accepted terms of service
}

// Consent is what a user lets a client do.
type Consent struct {
	ClientID string    `json:"clientId"`
	Scopes   []string  `json:"scopes"`
	Since    time.Time `json:"since"`
}

// Device is a trusted device of a user: one at which they signed in with a code.
type Device struct {
	Hash  []byte    `json:"hash"`
	Since time.Time `json:"since"`
	Used  time.Time `json:"used,omitzero"` // the last sign-in without a code
	Name  string    `json:"name,omitempty"`
}

// ID names the device where it is shown. It opens nothing.
func (d Device) ID() string { return hex.EncodeToString(d.Hash[:min(6, len(d.Hash))]) }

// SetDevices gives the user a list of trusted devices.
func (u *User) SetDevices(list []Device) {
	u.Inner.Devices, u.Clients = list, make(Texts, len(list))
	for i, d := range list {
		u.Clients[i] = d.ID()
	}
}

// ForgetDevice makes a device trusted no more. It reports whether there was one of that id.
func (u *User) ForgetDevice(id string) bool {
	kept := slices.DeleteFunc(slices.Clone(u.Inner.Devices), func(d Device) bool { return d.ID() == id })
	gone := len(kept) < len(u.Inner.Devices)
	u.SetDevices(kept)
	return gone
}

// EditDevice changes the device that is, and reports whether there is one.
func (u *User) EditDevice(is func(Device) bool, change func(*Device)) bool {
	list := slices.Clone(u.Inner.Devices)
	at := slices.IndexFunc(list, is)
	if at >= 0 {
		change(&list[at])
	}
	u.SetDevices(list)
	return at >= 0
}

// NewUser is a user with the interface's defaults: pending, with live, recorded and exported video.
func NewUser() User {
	return User{IsPending: true, IsLiveVideo: true, IsRecordedVideo: true, IsExportVideo: true, IsPreviewVideo: true,
		Timezone: DefaultZone, Language: "en-us", JSON: "{}", IsTermsNoncompliant: true}
}

// Locked says whether the user is locked out.
func (u User) Locked() bool { return !u.Inner.Locked.IsZero() }

// Disabled says whether the user may not sign in at all, a lock included. A pending user is not
// disabled.
func (u User) Disabled() bool { return u.Locked() || bool(!u.IsActive && !u.IsPending) }

// Proven says whether the address is known to be the user's own. An administrator may give a user
// any address, and users change their own; what others mean for whoever has the address is for
// those alone who read its mail.
func (u User) Proven() bool { return u.Inner.Mailbox != "" && u.Inner.Mailbox == Fold(u.Email) }

// Ousts says whether what was issued to the user at a time is worth nothing by now: a password was
// set since, and whoever changes a password wants everyone else out, or the user was locked or
// disabled.
func (u User) Ousts(issued time.Time) bool {
	return issued.Before(u.Inner.PasswordSet) || !issued.After(u.Inner.Ousted)
}

// Lock locks the user out at a time.
func (u *User) Lock(at time.Time, why string) {
	u.Inner.Locked, u.Inner.LockedWhy, u.Inner.Ousted = at, why, at
}

// Admin says whether the user is an account superuser, ASU in the rules, or more.
func (u User) Admin() bool { return bool(u.IsAccountSuperuser || u.IsSuperuser) }

// Settled is the user with what follows from its own flags: whoever may do more with cameras may
// see previews.
func (u User) Settled() User {
	if u.IsLiveVideo || u.IsExportVideo || u.IsRecordedVideo || u.IsEditCameras || u.IsEditCameraOnOff ||
		u.IsEditCameraLess ||
		u.IsEditAllAndAdd || u.IsEditMotionAreas || u.IsEditPTZStations || u.IsPTZLive || u.IsAccountSuperuser {
		u.IsPreviewVideo = true
	}
	return u
}

// Shown is the record as it is printed at a time for a session in the account active, with what is
// copied from the user's own account home. cluster is the subdomain where there is no brand.
func (u User) Shown(now time.Time, home Account, active, cluster string) User {
	u.UTCOffset, u.AccountUTCOffset = Offset(u.Timezone, now), Offset(home.Timezone, now)
	u.AccountWorkDays, u.AccountWorkHours, u.AccountMapLines = home.WorkDays, home.WorkHours, home.MapLines
	u.InactiveTimeout, u.IsMaster, u.IsNotificationsOff = home.InactiveSessionTimeout, home.IsMaster,
		home.IsNotificationsOff
	u.IsBranded, u.BrandSubdomain = home.IsCustomBrand, cluster
	if home.IsCustomBrand && home.BrandSubdomain != "" {
		u.BrandSubdomain = home.BrandSubdomain
	}
	u.ActiveAccountID = active
	if active == "" {
		u.ActiveAccountID = u.OwnerAccountID
	}
	return u
}

// Permissions lists the flags of the user that are set, without their "is_", in the order of the
// record: position 4 of the user list.
func (u User) Permissions() []string {
	out := []string{}
	v := reflect.ValueOf(u)
	for i := range v.NumField() {
		if f, ok := v.Field(i).Interface().(Flag); ok && bool(f) {
			out = append(out, strings.TrimPrefix(v.Type().Field(i).Tag.Get("json"), "is_"))
		}
	}
	return out
}

// EmployeeID is vms.employee_id of the settings in the field json.
func (u User) EmployeeID() string {
	var settings struct {
		VMS struct {
			EmployeeID string `json:"employee_id"`
		} `json:"vms"`
	}
	_ = json.Unmarshal([]byte(u.JSON), &settings) // settings of another form have none
	return settings.VMS.EmployeeID
}
