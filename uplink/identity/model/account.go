package model

import (
	"net/netip"
	"slices"
	"time"
)

// The values of status. An account has one of them.
const (
	StatusActive    = "active"
	StatusInactive  = "inactive"
	StatusSuspended = "suspended"
	StatusPending   = "pending_validation"
)

// Account is the record of an account, in the interface's order and with its names. It is copied by
// value; its slices are not changed in place once a record is stored.
type Account struct {
	ID                string `json:"id"`
	Name              string `json:"name"`
	ContactFirstName  string `json:"contact_first_name"`
	ContactLastName   string `json:"contact_last_name"`
	ContactEmail      string `json:"contact_email"`
	ContactStreet     Texts  `json:"contact_street"`
	ContactCity       string `json:"contact_city"`
	ContactState      string `json:"contact_state"`
	ContactPostalCode string `json:"contact_postal_code"`
	ContactCountry    string `json:"contact_country"`
	ContactPhone      string `json:"contact_phone"`
	ContactMobile     string `json:"contact_mobile_phone"`
	ContactUTCOffset  int    `json:"contact_utc_offset"`
	OwnerAccountID    string `json:"owner_account_id"`
	Timezone          string `json:"timezone"`
	UTCOffset         int    `json:"utc_offset"`
	Status            Texts  `json:"status"`
	IsActive          Flag   `json:"is_active"`
	IsInactive        Flag   `json:"is_inactive"`
	IsSuspended       Flag   `json:"is_suspended"`

	AccessRestriction      Texts `json:"access_restriction"`
	AllowableRange         Texts `json:"allowable_ip_address_range"`
	SessionDuration        int   `json:"session_duration"`         // minutes, 0 for ever
	InactiveSessionTimeout int   `json:"inactive_session_timeout"` // seconds, 0 never
	LoginAttemptLimit      int   `json:"login_attempt_limit"`      // 0 no limit
	IsFactorForced         Flag  `json:"is_two_factor_authentication_forced"`

	Holiday         Texts  `json:"holiday"`
	WorkDays        string `json:"work_days"`
	WorkHours       Texts  `json:"work_hours"`
	AlertMode       Texts  `json:"alert_mode"`
	ActiveAlertMode string `json:"active_alert_mode"`

	DefaultCameraPasswords string `json:"default_camera_passwords"`
	CameraShares           Lists  `json:"camera_shares"`
	CameraSharePerms       Object `json:"camera_share_perms"`
	FirstResponders        Lists  `json:"first_responders"`
	ResponderActive        bool   `json:"responder_active"`
	ResponderCameras       Texts  `json:"responder_cameras"`

	IsMaster             Flag   `json:"is_master"`
	ProductEdition       string `json:"product_edition"`
	CameraQuantity       int    `json:"camera_quantity"`
	IsCustomBrandAllowed Flag   `json:"is_custom_brand_allowed"`
	IsCustomBrand        Flag   `json:"is_custom_brand"`
	BrandLogoSmall       string `json:"brand_logo_small"`
	BrandLogoLarge       string `json:"brand_logo_large"`
	BrandSubdomain       string `json:"brand_subdomain"`
	BrandCorpURL         string `json:"brand_corp_url"`
	BrandName            string `json:"brand_name"`
	BrandSupportPhone    string `json:"brand_support_phone"`
	BrandSupportEmail    string `json:"brand_support_email"`
	BrandCertificate     string `json:"brand_saml_publickey_cert"`
	BrandNameIDPath      string `json:"brand_saml_nameid_path"`

	CustomerID             string `json:"customer_id"`
	IsVideoDisabledAllowed Flag   `json:"is_master_video_disabled_allowed"`
	IsVideoDisabled        Flag   `json:"is_master_video_disabled"`
	IsContractRecording    Flag   `json:"is_contract_recording"`
	IsAdvancedDisabled     Flag   `json:"is_advanced_disabled"`
	IsBillingDisabled      Flag   `json:"is_billing_disabled"`
	IsAddDeleteDisabled    Flag   `json:"is_add_delete_disabled"`
	IsDisableAllSettings   Flag   `json:"is_disable_all_settings"`
	IsRTSPEnabled          Flag   `json:"is_rtsp_cameras_enabled"`
	DefaultCluster         string `json:"default_cluster"`
	IsNotificationImages   Flag   `json:"is_system_notification_images_enabled"`
	IsNotificationsOff     Flag   `json:"is_system_notifications_disabled"`
	MapLines               Object `json:"map_lines"`
	CreditCards            Lists  `json:"cc_info"` // always empty: the service stores no cards

	Inner AccountInner `json:"-"`
}

// AccountInner is what the service keeps of an account beyond the interface's record.
type AccountInner struct {
	Created time.Time `json:"created"`
	Realm   string    `json:"realm,omitempty"`
	// APIAccess says that the account was made with is_api_access_needed.
	APIAccess bool `json:"apiAccess,omitempty"`
}

// NewAccount is an account with the defaults: pending, in US/Pacific, a session of four hours (as
// recorded from the public service), work days Monday to Friday.
func NewAccount() Account {
	return Account{Timezone: DefaultZone, Status: Texts{StatusPending}, SessionDuration: 240, WorkDays: "1111100",
		WorkHours: Texts{"0800", "1800"}, AccessRestriction: Texts{"enable_mobile"}, IsRTSPEnabled: true}
}

// Is says whether the account has a status.
func (a Account) Is(status string) bool { return slices.Contains(a.Status, status) }

// Ranges are the addresses from which the account's users may sign in and act, nil for any. An
// entry that cannot be read lets nobody in.
func (a Account) Ranges() []netip.Prefix {
	if !slices.Contains(a.AccessRestriction, "enable_ip_restrictions") || len(a.AllowableRange) == 0 {
		return nil
	}
	out := make([]netip.Prefix, len(a.AllowableRange))
	for i, s := range a.AllowableRange {
		out[i] = prefix(s)
	}
	return out
}

// prefix reads an address range, one of IPv4 in the form of IPv6 too. The zero Prefix, for what is
// none, contains nothing.
func prefix(s string) netip.Prefix {
	p, err := netip.ParsePrefix(s)
	if err != nil || !p.Addr().Is4In6() || p.Bits() < 96 {
		return p
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
}

// Child says whether the account belongs to another one.
func (a Account) Child() bool { return a.OwnerAccountID != "" && a.OwnerAccountID != a.ID }

// Shown is the record as it is printed at a time, with what follows from other fields filled in.
// Secrets and settings that are nobody's business without the right to edit the account are left
// out unless full.
func (a Account) Shown(now time.Time, full bool) Account {
	a.UTCOffset = Offset(a.Timezone, now)
	a.IsActive, a.IsInactive, a.IsSuspended = Flag(a.Is(StatusActive)), Flag(a.Is(StatusInactive)),
		Flag(a.Is(StatusSuspended))
	if !full {
		a.DefaultCameraPasswords, a.CreditCards, a.AllowableRange = "", nil, nil
		a.CameraShares, a.CameraSharePerms, a.FirstResponders, a.ResponderCameras = nil, nil, nil, nil
	}
	return a
}
