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
var AccountFields = fieldsOf[Account](
	Field{Name: "name", Use: required, check: text(maxText, notEmpty)},
	Field{Name: "contact_first_name contact_last_name", Use: required, check: line},
	Field{Name: "contact_email", Use: required, check: text(maxText, CheckEmail)},
	Field{Name: "contact_street alert_mode", Use: both, check: entries},
	Field{Name: "contact_city contact_state contact_postal_code active_alert_mode", Use: both, check: line},
	Field{Name: "contact_country", Use: both,
		check: text(maxText, orEmpty(matches(`^[A-Za-z]{2,3}$`, "a country code")))},
	Field{Name: "contact_phone contact_mobile_phone brand_name brand_support_phone", Use: UseUpdate, check: line},
	Field{Name: "contact_utc_offset", Use: UseUpdate, check: number(-86400, 86400)},
	Field{Name: "owner_account_id", Use: UseCreate, check: line},
	Field{Name: "timezone", Use: both, check: text(maxText, checkZone)},
	Field{Name: "status", Use: both, Who: Parent, check: checkStatus},

	Field{Name: "access_restriction", Use: both, check: each(oneOf("enable_mobile", "enable_ip_restrictions"))},
	Field{Name: "allowable_ip_address_range", Use: both, check: each(checkRange)},
	Field{Name: "session_duration", Use: both, check: number(0, 10*366*24*60)},
	Field{Name: "inactive_session_timeout", Use: UseUpdate, check: number(0, 366*24*3600)},
	Field{Name: "login_attempt_limit", Use: UseUpdate, check: number(0, 1000)},
	Field{Name: "is_two_factor_authentication_forced", Use: UseUpdate, Who: Admins},

	Field{Name: "holiday", Use: both, check: each(checkDate)},
	Field{Name: "work_days", Use: both, check: text(maxText, matches(`^[01]{7}$`, "1111100, Monday first"))},
	Field{Name: "work_hours", Use: both, check: checkHours},

	Field{Name: "default_camera_passwords", Use: both, check: text(4*maxText, nil)},
	Field{Name: "camera_shares", Use: UseUpdate, Class: Sharing, Action: true, With: "camera_share_perms",
		check: checkLists(2)},
	Field{Name: "camera_share_perms", Kind: api.Object, Use: UseUpdate, Class: Sharing, Action: true,
		With: "camera_shares", check: checkSize},
	Field{Name: "first_responders", Use: UseUpdate, Class: Sharing, check: checkResponders},
	Field{Name: "responder_active", Use: UseUpdate, Class: Sharing},
	Field{Name: "responder_cameras", Use: UseUpdate, Class: Sharing, check: entries},

	Field{Name: "is_master is_custom_brand_allowed is_system_notifications_disabled", Use: UseUpdate,
		Who: Superusers},
	Field{Name: "product_edition", Use: UseUpdate, Who: Superusers, check: line},
	Field{Name: "camera_quantity", Use: UseUpdate, Who: Superusers, check: number(0, 1<<30)},
	Field{Name: `is_custom_brand is_master_video_disabled is_contract_recording
		is_system_notification_images_enabled`, Use: UseUpdate},
	Field{Name: "brand_logo_small", Use: UseUpdate, check: logo(160, 52)},
	Field{Name: "brand_logo_large", Use: UseUpdate, check: logo(460, 184)},
	Field{Name: "brand_subdomain", Use: UseUpdate,
		check: text(maxText, orEmpty(matches(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`, "one label of a host name")))},
	Field{Name: "brand_corp_url", Use: UseUpdate,
		check: text(maxText, orEmpty(matches(`^https?://[^\s"<>]+$`, "https://example.org")))},
	Field{Name: "brand_saml_publickey_cert", Use: UseUpdate, Who: Admins,
		check: text(maxLong, orEmpty(checkCertificate))},
	Field{Name: "brand_saml_nameid_path", Use: UseUpdate, Who: Admins, check: line},

	Field{Name: "customer_id", Use: UseUpdate, Who: Parent, check: line},
	Field{Name: `is_master_video_disabled_allowed is_advanced_disabled is_billing_disabled is_add_delete_disabled
		is_disable_all_settings`, Use: UseUpdate, Who: Parent},
	Field{Name: "is_rtsp_cameras_enabled", Use: UseUpdate, Class: Advanced},
	Field{Name: "default_cluster", Use: UseUpdate, Class: Advanced, check: line},
	Field{Name: "map_lines", Use: UseUpdate, check: checkSize},
	Field{Name: "cc_info", Kind: api.Any, Class: Billing},

	// Not of the record: they act once and store nothing.
	Field{Name: "is_revoke_admins", Kind: api.Flag, Use: UseUpdate, Who: Admins, Action: true},
	Field{Name: "is_without_initial_user is_initial_user_not_admin", Kind: api.Flag, Use: UseCreate, Action: true},
)
