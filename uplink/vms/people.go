package vms

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// User is one record of the list of users, and what users/self answers. What is behind EmployeeID
// is there only if it was asked for.
type User struct {
	ID              string           `json:"id"`
	FirstName       string           `json:"firstName"`
	LastName        string           `json:"lastName"`
	AccountID       string           `json:"accountId"`
	Email           string           `json:"email"`
	Language        string           `json:"language"`
	EmployeeID      string           `json:"employeeId"`
	CreateTimestamp *Time            `json:"createTimestamp,omitempty"`
	TimeZone        *TimeZone        `json:"timeZone,omitempty"`
	Status          *LoginStatus     `json:"status,omitempty"`
	LoginDetails    *LoginDetails    `json:"loginDetails,omitempty"`
	ContactDetails  *ContactDetails  `json:"contactDetails,omitempty"`
	Permissions     *UserPermissions `json:"permissions,omitempty"`
	PreviewSettings *PreviewSettings `json:"previewSettings,omitempty"`
	TimeSettings    *TimeSettings    `json:"timeSettings,omitempty"`
	// EffectivePermissions are what the caller may do with the user.
	EffectivePermissions *Changeable `json:"effectivePermissions,omitempty"`
}

// TimeZone holds a name of the tz database.
type TimeZone struct {
	TimeZone string `json:"timeZone"`
}

// UserChange is the body of PATCH /users/self: what is nil stays as it is.
type UserChange struct {
	FirstName *string   `json:"firstName,omitempty"`
	LastName  *string   `json:"lastName,omitempty"`
	Language  *string   `json:"language,omitempty"`
	TimeZone  *TimeZone `json:"timeZone,omitempty"`
}

// ParseUserChange reads the body of a change, and lists everything wrong with its form.
func ParseUserChange(body []byte) (UserChange, []Problem) {
	var c UserChange
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return c, []Problem{{"body", ReasonJSON, jsonTrouble(err)}}
	}
	into := map[string]any{"firstName": &c.FirstName, "lastName": &c.LastName, "language": &c.Language,
		"timeZone": &c.TimeZone}
	var out []Problem
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if into[name] == nil {
			out = append(out, Problem{name, ReasonUnexpected, "cannot be changed here"})
		} else if bytes.Equal(fields[name], []byte("null")) {
			out = append(out, wrong(name, "must not be null"))
		} else if err := json.Unmarshal(fields[name], into[name]); err != nil {
			out = append(out, wrong(name, jsonTrouble(err)))
		}
	}
	if len(fields) == 0 {
		out = []Problem{{"firstName, lastName, language or timeZone", ReasonMissing, "is required"}}
	}
	return c, out
}

// LoginStatus is active, pending or blocked.
type LoginStatus struct {
	LoginStatus string `json:"loginStatus"`
}

// The values of LoginStatus.
const (
	LoginActive  = "active"
	LoginPending = "pending"
	LoginBlocked = "blocked"
)

// LoginDetails say when a user was there last; nil is never.
type LoginDetails struct {
	LastLogin *Time `json:"lastLogin"`
}

// ContactDetails are how else to reach a user.
type ContactDetails struct {
	AlternateEmail string `json:"alternateEmail"`
	Phone          string `json:"phone"`
}

// PreviewSettings are what a user wants to see.
type PreviewSettings struct {
	ShowMotionBoxes bool `json:"showMotionBoxes"`
}

// TimeSettings are how a user wants to see times: format is 24h or 12h.
type TimeSettings struct {
	ShowMilliseconds bool   `json:"showMilliseconds"`
	Format           string `json:"format"`
}

// Changeable is what the caller may do with a record.
type Changeable struct {
	Read   bool `json:"read"`
	Edit   bool `json:"edit"`
	Delete bool `json:"delete"`
}

// UserPermissions are the flags of a user in the interface's words.
type UserPermissions struct {
	Administrator               bool `json:"administrator"`
	EditAccounts                bool `json:"editAccounts"`
	LayoutAdministrator         bool `json:"layoutAdministrator"`
	CreateLayouts               bool `json:"createLayouts"`
	EditNoBillingDeviceSettings bool `json:"editNoBillingDeviceSettings"`
	TurnCamerasOnOff            bool `json:"turnCamerasOnOff"`
	EditMotionAreas             bool `json:"editMotionAreas"`
	EditAllCameraSettings       bool `json:"editAllCameraSettings"`
	EditUsers                   bool `json:"editUsers"`
	EditAdminUsers              bool `json:"editAdminUsers"`
	EditResellerUsers           bool `json:"editResellerUsers"`
	AddEditBridgesCameras       bool `json:"addEditBridgesCameras"`
	EditSharing                 bool `json:"editSharing"`
	ControlPTZ                  bool `json:"controlPTZ"`
	EditPTZStations             bool `json:"editPTZStations"`
	ViewLiveVideo               bool `json:"viewLiveVideo"`
	ViewHistoricVideo           bool `json:"viewHistoricVideo"`
	DownloadVideo               bool `json:"downloadVideo"`
	ViewPreviewVideo            bool `json:"viewPreviewVideo"`
	EditMap                     bool `json:"editMap"`
	ViewAuditLog                bool `json:"viewAuditLog"`
	ViewContract                bool `json:"viewContract"`
}

// TrustedClient is a device at which a user signs in without a code. Its address is not kept.
type TrustedClient struct {
	ID          string `json:"id"`
	LastLogin   Time   `json:"lastLogin"`
	IP          string `json:"ip"`
	Description string `json:"description"`
}

// Account is one record of the list of accounts. What is behind Status is there only if it was
// asked for.
type Account struct {
	ID                   string          `json:"id"`
	Name                 string          `json:"name"`
	Type                 string          `json:"type"` // reseller or endUserAccount
	CustomerID           string          `json:"customerId,omitempty"`
	Status               string          `json:"status"` // active, loginDisabled or accountDisabled
	TimeZone             *TimeZone       `json:"timeZone,omitempty"`
	WorkingHours         *WorkingHours   `json:"workingHours,omitempty"`
	Security             *Security       `json:"security,omitempty"`
	BrandingInfo         *Branding       `json:"brandingInfo,omitempty"`
	ResourceCounts       *ResourceCounts `json:"resourceCounts,omitempty"`
	EffectivePermissions *Changeable     `json:"effectivePermissions,omitempty"`
}

// WorkingHours are when people work. The hours are HH:MM.
type WorkingHours struct {
	Days  map[string]bool `json:"days"`
	Hours struct {
		Start string `json:"start"`
		End   string `json:"end"`
	} `json:"hours"`
}

// Security is how the users of an account sign in. Durations are minutes and seconds, as the
// account's record has them.
type Security struct {
	SessionDuration          int  `json:"sessionDuration"`
	SessionInactivityTimeout int  `json:"sessionInactivityTimeout"`
	LoginAttemptLimit        int  `json:"loginAttemptLimit"`
	TwoFactorForced          bool `json:"twoFactorAuthenticationForced"`
}

// Branding is what an account calls itself to its users.
type Branding struct {
	Name         string `json:"name"`
	SubDomain    string `json:"subDomain"`
	SupportEmail string `json:"supportEmail"`
	SupportPhone string `json:"supportPhone"`
	CorporateURL string `json:"corporateURL"`
}

// ResourceCounts count what an account has.
type ResourceCounts struct {
	Cameras  int `json:"cameras"`
	Bridges  int `json:"bridges"`
	Users    int `json:"users"`
	Accounts int `json:"accounts"`
}
