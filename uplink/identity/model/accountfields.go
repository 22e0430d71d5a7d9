package model

import "vmsbridge/uplink/identity/api"

// Shorthand of the tables: what PUT and POST take.
const (
	both     = UseCreate | UseUpdate
	required = UseCreate | UseUpdate | UseRequired
)

var (
	line    = text(maxText, nil)
	entries = each(nil)
)

// AccountFields has one row for every field of Account: which calls set it, and who. Where the
// interface does not list a field with a call but only superusers may decide it (is_master,
// product_edition, camera_quantity, is_custom_brand_allowed, is_system_notifications_disabled),
// superusers set it through POST.
var AccountFields = Fields{
	{Name: "id", Kind: api.Text},
	{Name: "name", Kind: api.Text, Use: required, check: text(maxText, notEmpty)},
	{Name: "contact_first_name", Kind: api.Text, Use: required, check: line},
	{Name: "contact_last_name", Kind: api.Text, Use: required, check: line},
	{Name: "contact_email", Kind: api.Text, Use: required, check: text(maxText, CheckEmail)},
	{Name: "contact_street", Kind: api.Texts, Use: both, check: entries},
	{Name: "contact_city", Kind: api.Text, Use: both, check: line},
	{Name: "contact_state", Kind: api.Text, Use: both, check: line},
	{Name: "contact_postal_code", Kind: api.Text, Use: both, check: line},
	{Name: "contact_country", Kind: api.Text, Use: both,
		check: text(maxText, orEmpty(matches(`^[A-Za-z]{2,3}$`, "a country code")))},
	{Name: "contact_phone", Kind: api.Text, Use: UseUpdate, check: line},
	{Name: "contact_mobile_phone", Kind: api.Text, Use: UseUpdate, check: line},
	{Name: "contact_utc_offset", Kind: api.Int, Use: UseUpdate, check: number(-86400, 86400)},
	{Name: "owner_account_id", Kind: api.Text, Use: UseCreate, check: line},
	{Name: "timezone", Kind: api.Text, Use: both, check: text(maxText, checkZone)},
	{Name: "utc_offset", Kind: api.Int},
	{Name: "status", Kind: api.Texts, Use: both, Who: Parent, check: checkStatus},
	{Name: "is_active", Kind: api.Flag},
	{Name: "is_inactive", Kind: api.Flag},
	{Name: "is_suspended", Kind: api.Flag},

	{Name: "access_restriction", Kind: api.Texts, Use: both,
		check: each(oneOf("enable_mobile", "enable_ip_restrictions"))},
	{Name: "allowable_ip_address_range", Kind: api.Texts, Use: both, check: each(checkRange)},
	{Name: "session_duration", Kind: api.Int, Use: both, check: number(0, 10*366*24*60)},
	{Name: "inactive_session_timeout", Kind: api.Int, Use: UseUpdate, check: number(0, 366*24*3600)},
	{Name: "login_attempt_limit", Kind: api.Int, Use: UseUpdate, check: number(0, 1000)},
	{Name: "is_two_factor_authentication_forced", Kind: api.Flag, Use: UseUpdate, Who: Admins},

	{Name: "holiday", Kind: api.Texts, Use: both, check: each(checkDate)},
	{Name: "work_days", Kind: api.Text, Use: both, check: text(maxText, matches(`^[01]{7}$`, "1111100, Monday first"))},
	{Name: "work_hours", Kind: api.Texts, Use: both, check: checkHours},
	{Name: "alert_mode", Kind: api.Texts, Use: both, check: entries},
	{Name: "active_alert_mode", Kind: api.Text, Use: both, check: line},

	{Name: "default_camera_passwords", Kind: api.Text, Use: both, check: text(4*maxText, nil)},
	{Name: "camera_shares", Kind: api.Lists, Use: UseUpdate, Class: Sharing, Action: true, With: "camera_share_perms",
		check: checkLists(2)},
	{Name: "camera_share_perms", Kind: api.Object, Use: UseUpdate, Class: Sharing, Action: true,
		With: "camera_shares", check: checkSize},
	{Name: "first_responders", Kind: api.Lists, Use: UseUpdate, Class: Sharing, check: checkResponders},
	{Name: "responder_active", Kind: api.Bool, Use: UseUpdate, Class: Sharing},
	{Name: "responder_cameras", Kind: api.Texts, Use: UseUpdate, Class: Sharing, check: entries},

	{Name: "is_master", Kind: api.Flag, Use: UseUpdate, Who: Superusers},
	{Name: "product_edition", Kind: api.Text, Use: UseUpdate, Who: Superusers, check: line},
	{Name: "camera_quantity", Kind: api.Int, Use: UseUpdate, Who: Superusers, check: number(0, 1<<30)},
	{Name: "is_custom_brand_allowed", Kind: api.Flag, Use: UseUpdate, Who: Superusers},
	{Name: "is_custom_brand", Kind: api.Flag, Use: UseUpdate},
	{Name: "brand_logo_small", Kind: api.Text, Use: UseUpdate, check: logo(160, 52)},
	{Name: "brand_logo_large", Kind: api.Text, Use: UseUpdate, check: logo(460, 184)},
	{Name: "brand_subdomain", Kind: api.Text, Use: UseUpdate,
		check: text(maxText, orEmpty(matches(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`, "one label of a host name")))},
	{Name: "brand_corp_url", Kind: api.Text, Use: UseUpdate,
		check: text(maxText, orEmpty(matches(`^https?://[^\s"<>]+$`, "https://example.org")))},
	{Name: "brand_name", Kind: api.Text, Use: UseUpdate, check: line},
	{Name: "brand_support_phone", Kind: api.Text, Use: UseUpdate, check: line},
	{Name: "brand_support_email", Kind: api.Text},
	{Name: "brand_saml_publickey_cert", Kind: api.Text, Use: UseUpdate, Who: Admins,
		check: text(maxLong, orEmpty(checkCertificate))},
	{Name: "brand_saml_nameid_path", Kind: api.Text, Use: UseUpdate, Who: Admins, check: line},

	{Name: "customer_id", Kind: api.Text, Use: UseUpdate, Who: Parent, check: line},
	{Name: "is_master_video_disabled_allowed", Kind: api.Flag, Use: UseUpdate, Who: Parent},
	{Name: "is_master_video_disabled", Kind: api.Flag, Use: UseUpdate},
	{Name: "is_contract_recording", Kind: api.Flag, Use: UseUpdate},
	{Name: "is_advanced_disabled", Kind: api.Flag, Use: UseUpdate, Who: Parent},
	{Name: "is_billing_disabled", Kind: api.Flag, Use: UseUpdate, Who: Parent},
	{Name: "is_add_delete_disabled", Kind: api.Flag, Use: UseUpdate, Who: Parent},
	{Name: "is_disable_all_settings", Kind: api.Flag, Use: UseUpdate, Who: Parent},
	{Name: "is_rtsp_cameras_enabled", Kind: api.Flag, Use: UseUpdate, Class: Advanced},
	{Name: "default_cluster", Kind: api.Text, Use: UseUpdate, Class: Advanced, check: line},
	{Name: "is_system_notification_images_enabled", Kind: api.Flag, Use: UseUpdate},
	{Name: "is_system_notifications_disabled", Kind: api.Flag, Use: UseUpdate, Who: Superusers},
	{Name: "map_lines", Kind: api.Any, Use: UseUpdate, check: checkSize},
	{Name: "cc_info", Kind: api.Any, Class: Billing},

	// Not of the record: they act once and store nothing.
	{Name: "is_revoke_admins", Kind: api.Flag, Use: UseUpdate, Who: Admins, Action: true},
	{Name: "is_without_initial_user", Kind: api.Flag, Use: UseCreate, Action: true},
	{Name: "is_initial_user_not_admin", Kind: api.Flag, Use: UseCreate, Action: true},
}
