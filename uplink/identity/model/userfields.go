package model

// UserFields has one row for every field of User: which calls set it, and who. PUT takes what POST
// takes, beyond the list of the interface, because the rules speak of creating account superusers.
var UserFields = fieldsOf[User](
	Field{Name: "first_name last_name", Use: required, Who: Self, check: text(maxText, notEmpty)},
	Field{Name: "email", Use: required, Who: ByVerify, check: text(maxText, CheckEmail)},
	Field{Name: "uid", Use: both, Who: Superusers, check: line},

	Field{Name: "phone mobile_phone city state postal_code", Use: both, Who: Self, check: line},
	Field{Name: "street", Use: both, Who: Self, check: entries},
	Field{Name: "country", Use: both, Who: Self,
		check: text(maxText, orEmpty(matches(`^[A-Za-z]{2}$`, "a two-letter country code")))},
	Field{Name: "alternate_email", Use: both, Who: Self, check: text(maxText, orEmpty(CheckEmail))},
	Field{Name: "sms_phone", Use: both, Who: ByVerify, check: text(maxText, orEmpty(CheckPhone))},

	Field{Name: "language", Use: both, Who: Self,
		check: text(maxText, matches(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`, "en-us"))},
	Field{Name: "timezone", Use: both, Who: Self, check: text(maxText, checkZone)},
	Field{Name: "json", Use: both, Who: Self, check: text(maxLong, checkJSONText)},
	Field{Name: "camera_access", Use: both, Who: Admins, Action: true, check: checkLists(2)},
	Field{Name: "notify_period", Use: both, Who: Self, check: each(checkPeriod)},
	Field{Name: "notify_rule", Use: both, Who: Self,
		check: each(matches(`^.+-(email|gui)-[0-9]{1,5}$`, "label-email-10"))},
	Field{Name: "access_period", Use: both, check: each(checkPeriod)},

	Field{Name: "is_superuser is_staff", Use: both, Who: Superusers},
	// The list of POST leaves the audit trail out, but nothing else could grant it.
	Field{Name: "is_account_superuser is_view_audit_trail", Use: both, Who: Admins},
	Field{Name: `is_user_admin is_device_admin is_layout_admin is_user_create_layout is_edit_map is_live_video
		is_export_video is_recorded_video is_view_preview_video is_edit_cameras is_edit_camera_on_off
		is_edit_camera_less_billing is_edit_all_and_add is_edit_motion_areas is_edit_ptz_stations is_ptz_live
		is_edit_sharing is_edit_account is_edit_users is_edit_admin_users is_edit_all_users is_view_contract`,
		Use: both, Grants: true},
	Field{Name: "is_two_factor_authentication_enabled", Use: UseUpdate, Who: ByVerify},
	Field{Name: "is_notify_enable is_sms_include_picture", Use: both, Who: Self},
)
