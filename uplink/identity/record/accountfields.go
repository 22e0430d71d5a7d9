package record

import "vmsbridge/uplink/identity/argument"

// Shorthand of the tables: what PUT and POST take.
const (
	both     = Create | Update
	required = Create | Update | Need
)

var (
	line    = text(maxText, nil)
	entries = each(nil)
	flag    check // its kind says it all
)

// AccountFields has one row for every field of Account: which calls of §4.2 set it, and who. Where the document does not
// list a field with a call but only superusers may decide it (is_master, product_edition, camera_quantity,
// is_custom_brand_allowed, is_system_notifications_disabled), superusers set it through POST.
var AccountFields = Fields{
	{Name: "id", Kind: argument.Text},
	{Name: "name", Kind: argument.Text, Use: required, check: text(maxText, notEmpty)},
	{Name: "contact_first_name", Kind: argument.Text, Use: required, check: line},
	{Name: "contact_last_name", Kind: argument.Text, Use: required, check: line},
	{Name: "contact_email", Kind: argument.Text, Use: required, check: text(maxText, CheckEmail)},
	{Name: "contact_street", Kind: argument.Texts, Use: both, check: entries},
	{Name: "contact_city", Kind: argument.Text, Use: both, check: line},
	{Name: "contact_state", Kind: argument.Text, Use: both, check: line},
	{Name: "contact_postal_code", Kind: argument.Text, Use: both, check: line},
	{Name: "contact_country", Kind: argument.Text, Use: both, check: text(maxText, orEmpty(matches(`^[A-Za-z]{2,3}$`, "a country code")))},
	{Name: "contact_phone", Kind: argument.Text, Use: Update, check: line},
	{Name: "contact_mobile_phone", Kind: argument.Text, Use: Update, check: line},
	{Name: "contact_utc_offset", Kind: argument.Int, Use: Update, check: number(-86400, 86400)},
	{Name: "owner_account_id", Kind: argument.Text, Use: Create, check: line},
	{Name: "timezone", Kind: argument.Text, Use: both, check: text(maxText, checkZone)},
	{Name: "utc_offset", Kind: argument.Int},
	{Name: "status", Kind: argument.Texts, Use: both, Who: Parent, check: checkStatus},
	{Name: "is_active", Kind: argument.Flag},
	{Name: "is_inactive", Kind: argument.Flag},
	{Name: "is_suspended", Kind: argument.Flag},

	{Name: "access_restriction", Kind: argument.Texts, Use: both, check: each(oneOf("enable_mobile", "enable_ip_restrictions"))},
	{Name: "allowable_ip_address_range", Kind: argument.Texts, Use: both, check: each(checkRange)},
	{Name: "session_duration", Kind: argument.Int, Use: both, check: number(0, 10*366*24*60)},
	{Name: "inactive_session_timeout", Kind: argument.Int, Use: Update, check: number(0, 366*24*3600)},
	{Name: "login_attempt_limit", Kind: argument.Int, Use: Update, check: number(0, 1000)},
	{Name: "is_two_factor_authentication_forced", Kind: argument.Flag, Use: Update, Who: Admins, check: flag},

	{Name: "holiday", Kind: argument.Texts, Use: both, check: each(checkDate)},
	{Name: "work_days", Kind: argument.Text, Use: both, check: text(maxText, matches(`^[01]{7}$`, "1111100, Monday first"))},
	{Name: "work_hours", Kind: argument.Texts, Use: both, check: checkHours},
	{Name: "alert_mode", Kind: argument.Texts, Use: both, check: entries},
	{Name: "active_alert_mode", Kind: argument.Text, Use: both, check: line},

	{Name: "default_camera_passwords", Kind: argument.Text, Use: both, check: text(4*maxText, nil)},
	{Name: "camera_shares", Kind: argument.Lists, Use: Update, Class: Sharing, Action: true, With: "camera_share_perms", check: checkLists(2)},
	{Name: "camera_share_perms", Kind: argument.Object, Use: Update, Class: Sharing, Action: true, With: "camera_shares", check: checkSize},
	{Name: "first_responders", Kind: argument.Lists, Use: Update, Class: Sharing, check: checkResponders},
	{Name: "responder_active", Kind: argument.Bool, Use: Update, Class: Sharing},
	{Name: "responder_cameras", Kind: argument.Texts, Use: Update, Class: Sharing, check: entries},

	{Name: "is_master", Kind: argument.Flag, Use: Update, Who: Superusers},
	{Name: "product_edition", Kind: argument.Text, Use: Update, Who: Superusers, check: line},
	{Name: "camera_quantity", Kind: argument.Int, Use: Update, Who: Superusers, check: number(0, 1<<30)},
	{Name: "is_custom_brand_allowed", Kind: argument.Flag, Use: Update, Who: Superusers},
	{Name: "is_custom_brand", Kind: argument.Flag, Use: Update},
	{Name: "brand_logo_small", Kind: argument.Text, Use: Update, check: logo(160, 52)},
	{Name: "brand_logo_large", Kind: argument.Text, Use: Update, check: logo(460, 184)},
	{Name: "brand_subdomain", Kind: argument.Text, Use: Update, check: text(maxText, orEmpty(matches(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`, "one label of a host name")))},
	{Name: "brand_corp_url", Kind: argument.Text, Use: Update, check: text(maxText, orEmpty(matches(`^https?://[^\s"<>]+$`, "https://example.org")))},
	{Name: "brand_name", Kind: argument.Text, Use: Update, check: line},
	{Name: "brand_support_phone", Kind: argument.Text, Use: Update, check: line},
	{Name: "brand_support_email", Kind: argument.Text},
	{Name: "brand_saml_publickey_cert", Kind: argument.Text, Use: Update, Who: Admins, check: text(maxLong, orEmpty(checkCertificate))},
	{Name: "brand_saml_nameid_path", Kind: argument.Text, Use: Update, Who: Admins, check: line},

	{Name: "customer_id", Kind: argument.Text, Use: Update, Who: Parent, check: line},
	{Name: "is_master_video_disabled_allowed", Kind: argument.Flag, Use: Update, Who: Parent},
	{Name: "is_master_video_disabled", Kind: argument.Flag, Use: Update},
	{Name: "is_contract_recording", Kind: argument.Flag, Use: Update},
	{Name: "is_advanced_disabled", Kind: argument.Flag, Use: Update, Who: Parent},
	{Name: "is_billing_disabled", Kind: argument.Flag, Use: Update, Who: Parent},
	{Name: "is_add_delete_disabled", Kind: argument.Flag, Use: Update, Who: Parent},
	{Name: "is_disable_all_settings", Kind: argument.Flag, Use: Update, Who: Parent},
	{Name: "is_rtsp_cameras_enabled", Kind: argument.Flag, Use: Update, Class: Advanced},
	{Name: "default_cluster", Kind: argument.Text, Use: Update, Class: Advanced, check: line},
	{Name: "is_system_notification_images_enabled", Kind: argument.Flag, Use: Update},
	{Name: "is_system_notifications_disabled", Kind: argument.Flag, Use: Update, Who: Superusers},
	{Name: "map_lines", Kind: argument.Any, Use: Update, check: checkSize},
	{Name: "cc_info", Kind: argument.Any, Class: Billing},

	// Not of the record: they act once and store nothing.
	{Name: "is_revoke_admins", Kind: argument.Flag, Use: Update, Who: Admins, Action: true},
	{Name: "is_without_initial_user", Kind: argument.Flag, Use: Create, Action: true},
	{Name: "is_initial_user_not_admin", Kind: argument.Flag, Use: Create, Action: true},
}
