package model

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
)

// A row of the tables is of a field of the record; a field without one is set by nobody.
func TestRowsAreOfFields(t *testing.T) {
	require.PanicsWithValue(t, "identity: no record has a field zebra",
		func() { fieldsOf[User](Field{Name: "city zebra", Use: both}) })
	row, ok := fieldsOf[User]().Find("street")
	require.True(t, ok)
	require.Equal(t, Field{Name: "street", Kind: api.Texts}, row)
}

// The parameters of PUT and POST are those of the interface; what we take beyond them is written
// down here.
func TestCallsTakeWhatTheDocumentLists(t *testing.T) {
	list := func(f Fields, use Use) []string {
		var out []string
		for _, r := range f {
			if r.Use&use == use {
				out = append(out, r.Name)
			}
		}
		return out
	}
	words := strings.Fields
	require.ElementsMatch(t, words("name contact_first_name contact_last_name contact_email"),
		list(AccountFields, UseRequired))
	require.ElementsMatch(t, words(`name contact_first_name contact_last_name contact_email contact_street contact_city contact_state contact_postal_code
		contact_country owner_account_id timezone status access_restriction allowable_ip_address_range session_duration holiday work_days work_hours
		alert_mode active_alert_mode default_camera_passwords is_without_initial_user is_initial_user_not_admin`), list(AccountFields, UseCreate))
	require.ElementsMatch(t, append(words(`name contact_first_name contact_last_name contact_email contact_street contact_city contact_state
		contact_postal_code contact_country contact_phone contact_mobile_phone timezone status access_restriction allowable_ip_address_range
		session_duration holiday work_days work_hours alert_mode active_alert_mode default_camera_passwords camera_shares camera_share_perms
		is_revoke_admins is_custom_brand brand_logo_small brand_logo_large brand_subdomain brand_corp_url brand_name brand_saml_publickey_cert
		brand_saml_nameid_path is_master_video_disabled_allowed is_master_video_disabled is_contract_recording is_advanced_disabled
		is_billing_disabled is_add_delete_disabled is_disable_all_settings first_responders responder_active responder_cameras
		inactive_session_timeout login_attempt_limit is_rtsp_cameras_enabled brand_support_phone default_cluster customer_id
		is_system_notification_images_enabled map_lines contact_utc_offset is_two_factor_authentication_forced`),
		"is_master", "product_edition", "camera_quantity", "is_custom_brand_allowed",
		"is_system_notifications_disabled"), list(AccountFields, UseUpdate))

	require.ElementsMatch(t, words("first_name last_name email"), list(UserFields, UseRequired))
	documented := words(`first_name last_name email uid phone mobile_phone street city state country postal_code is_staff is_superuser
		is_account_superuser is_layout_admin is_user_create_layout is_edit_map is_device_admin is_user_admin is_live_video is_export_video
		is_recorded_video is_edit_cameras is_edit_all_users is_edit_account is_edit_ptz_stations is_view_preview_video is_edit_camera_on_off
		is_edit_camera_less_billing is_edit_all_and_add is_edit_sharing is_edit_admin_users is_view_contract is_ptz_live is_edit_users
		is_edit_motion_areas language timezone alternate_email sms_phone is_sms_include_picture json camera_access is_notify_enable
		notify_period notify_rule access_period`)
	require.ElementsMatch(t, append(documented, "is_view_audit_trail", "is_two_factor_authentication_enabled"),
		list(UserFields, UseUpdate))
	require.ElementsMatch(t, append(documented, "is_view_audit_trail"), list(UserFields, UseCreate))
}

func TestWhoSetsWhat(t *testing.T) {
	want := map[Who]string{
		Superusers: "uid is_superuser is_staff", Admins: "is_account_superuser camera_access is_view_audit_trail",
		ByVerify: "email sms_phone is_two_factor_authentication_enabled",
	}
	for who, fields := range want {
		for _, name := range strings.Fields(fields) {
			row, ok := UserFields.Find(name)
			require.True(t, ok && row.Who == who, name)
		}
	}
	for _, row := range UserFields {
		require.False(t, row.Grants && row.Who == Self, "%s: nobody gives a permission to themselves", row.Name)
	}
	row, _ := AccountFields.Find("status")
	require.Equal(t, Parent, row.Who)
}

func parse(t testing.TB, f Fields, use Use, body string) (Change, error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	set, err := api.Read(httptest.NewRecorder(), r)
	require.NoError(t, err)
	return f.Parse(set, use, "id")
}

func code(err error) int {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestChange(t *testing.T) {
	u := NewUser()
	u.ID, u.Email = "u1", "a@x.org"
	c, err := parse(t, UserFields, UseUpdate, `{"id":"u1","first_name":"Ann","is_live_video":0,"email":"a@x.org","last_login":"","is_ptz_live":true,"street":"One Road"}`)
	require.NoError(t, err)
	require.NoError(t, c.Locked(u), "what repeats the record does no harm")
	require.Equal(t, []string{"first_name", "is_live_video", "is_ptz_live", "street"}, c.Names())
	require.NoError(t, c.Apply(&u))
	require.Equal(t, "Ann", u.FirstName)
	require.False(t, bool(u.IsLiveVideo))
	require.True(t, bool(u.IsPTZLive && u.IsRecordedVideo), "what is not in the change stays")
	require.Equal(t, Texts{"One Road"}, u.Street)
	rest, err := c.Without(u)
	require.NoError(t, err)
	require.Empty(t, rest.Names(), "nothing is left to change")

	for body, want := range map[string]int{`{"email":"b@x.org"}`: 403, `{"sms_phone":"+1555123456"}`: 403,
		`{"is_two_factor_authentication_enabled":1}`: 403, `{"last_login":"2"}`: 400, `{"owner_account_id":"x"}`: 400} {
		c, err := parse(t, UserFields, UseUpdate, body)
		require.NoError(t, err)
		require.Equal(t, want, code(c.Locked(u)), body)
	}
	for _, body := range []string{`{"nope":1}`, `{"country":"USA"}`, `{"timezone":"Mars/Base"}`,
		`{"access_period":["7-0000-0100"]}`, `{"json":"{"}`, `{"language":"english!"}`,
		`{"camera_access":[["M"]]}`, `{"first_name":""}`, `{"alternate_email":"é@x.org"}`,
		`{"notify_rule":["x-fax-1"]}`, `{"is_live_video":2}`, `{"phone":"a\u0000"}`} {
		_, err := parse(t, UserFields, UseUpdate, body)
		require.Equal(t, 400, code(err), body)
	}
	_, err = parse(t, UserFields, UseCreate, `{"first_name":"A","email":"a@x.org"}`)
	require.ErrorContains(t, err, "last_name")
	_, err = parse(t, UserFields, UseCreate, `{"first_name":"A","last_name":"B","email":"a@x.org","last_login":""}`)
	require.Equal(t, 400, code(err), "PUT takes no field that it cannot set")
	var lists [][]string
	c, err = parse(t, UserFields, UseUpdate, `{"camera_access":[["M","c1","RW"]]}`)
	require.NoError(t, err)
	ok, err := c.Take("camera_access", &lists)
	require.True(t, ok && err == nil && !c.Has("camera_access"))
	require.Equal(t, [][]string{{"M", "c1", "RW"}}, lists)
}

func TestAccountValues(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"status":["active"]}`: true, `{"status":"active"}`: true, `{"status":[]}`: false,
		`{"status":["active","suspended"]}`: false, `{"status":["gone"]}`: false,
		`{"allowable_ip_address_range":["192.0.2.0/24","2001:db8::/32"]}`: true,
		`{"allowable_ip_address_range":["192.0.2.1"]}`:                    false,
		`{"work_days":"1111100"}`:                                         true, `{"work_days":"111110"}`: false,
		`{"work_hours":["0800","1730"]}`: true,
		`{"work_hours":["0800"]}`:        false, `{"work_hours":["0800","1760"]}`: false,
		`{"holiday":["20261225"]}`: true, `{"holiday":["20261325"]}`: false, `{"session_duration":-1}`: false,
		`{"session_duration":"60"}`:                                         true,
		`{"access_restriction":["enable_mobile","enable_ip_restrictions"]}`: true,
		`{"access_restriction":["none"]}`:                                   false,
		`{"brand_logo_small":"AAAA"}`:                                       false, `{"brand_logo_small":""}`: true,
		`{"brand_saml_publickey_cert":"nope"}`: false, `{"brand_subdomain":"a.b"}`: false,
		`{"brand_subdomain":"acme"}`: true, `{"brand_corp_url":"javascript:x"}`: false,
		`{"map_lines":{"a":[1,2]}}`: true, `{"camera_shares":[["M","c"]]}`: true, `{"camera_shares":[["M"]]}`: false,
		`{"name":" "}`: false, `{"responder_active":true}`: true,
	} {
		_, err := parse(t, AccountFields, UseUpdate, body)
		require.Equal(t, ok, err == nil, "%s: %v", body, err)
	}
}

func TestDefaults(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	a := NewAccount().Shown(now, true)
	require.Equal(t, "US/Pacific", a.Timezone)
	require.Equal(t, -7*3600, a.UTCOffset)
	require.Equal(t, Texts{StatusPending}, a.Status)
	require.False(t, bool(a.IsActive || a.IsInactive || a.IsSuspended))
	u := NewUser().Shown(now, a, "", "c000")
	require.True(t, bool(u.IsLiveVideo && u.IsRecordedVideo && u.IsExportVideo && u.IsPreviewVideo && u.IsPending &&
		!u.IsActive))
	require.Equal(t, "c000", u.BrandSubdomain)
	require.Equal(t, []string{"pending", "live_video", "export_video", "recorded_video", "view_preview_video",
		"terms_noncompliant"}, u.Permissions())
	raw, err := json.Marshal(u)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "null", "arrays and objects are never null")
	require.NotContains(t, strings.ToLower(string(raw)), "passwordhash")
	raw, err = json.Marshal(a)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "null")
	a.IsCustomBrand, a.BrandSubdomain = true, "acme"
	require.Equal(t, "acme", u.Shown(now, a, "sub", "c000").BrandSubdomain)
	require.Equal(t, "sub", u.Shown(now, a, "sub", "c000").ActiveAccountID)
}

func TestSecretsOfAnAccountNeedRights(t *testing.T) {
	a := NewAccount()
	a.DefaultCameraPasswords, a.CameraShares, a.AllowableRange = "pw", Lists{{"c"}}, Texts{"10.0.0.0/8"}
	require.Equal(t, "pw", a.Shown(time.Now(), true).DefaultCameraPasswords)
	less := a.Shown(time.Now(), false)
	require.Empty(t, less.DefaultCameraPasswords)
	require.Empty(t, less.CameraShares)
	require.Empty(t, less.AllowableRange)
}

func TestPreviewsComeWithOtherRights(t *testing.T) {
	for _, set := range []func(*User){func(u *User) { u.IsPTZLive = true }, func(u *User) { u.IsEditCameras = true },
		func(u *User) { u.IsRecordedVideo = true }} {
		var u User
		require.False(t, bool(u.Settled().IsPreviewVideo))
		set(&u)
		require.True(t, bool(u.Settled().IsPreviewVideo))
	}
}

func TestPeriods(t *testing.T) {
	monday := time.Date(2026, 11, 16, 17, 0, 0, 0, time.UTC) // 09:00 in US/Pacific
	for name, c := range map[string]struct {
		periods []string
		at      time.Time
		want    bool
	}{
		"no restriction": {nil, monday, true}, "within": {[]string{"0-0800-1000"}, monday, true},
		"at start": {[]string{"0-0900-1000"}, monday, true},
		"at end":   {[]string{"0-0800-0900"}, monday, false}, "another day": {[]string{"1-0800-1000"}, monday, false},
		"second entry":             {[]string{"1-0800-1000", "0-0000-2400"}, monday, true},
		"unreadable holds nothing": {[]string{"x"}, monday, false},
		"day of the timezone":      {[]string{"6-2300-2400"}, time.Date(2026, 11, 16, 7, 30, 0, 0, time.UTC), true},
	} {
		require.Equal(t, c.want, Within(c.periods, "US/Pacific", c.at), name)
	}
}

// Times are those of the clock on the wall, also on the days on which that is set: an hour that
// comes twice is twice within, and one that is left out is no time at all.
func TestWithinWhenClocksAreSet(t *testing.T) {
	for name, c := range map[string]struct {
		period string
		at     time.Time
		want   bool
	}{
		"half past one in summer time":      {"6-0100-0200", time.Date(2026, 11, 1, 8, 30, 0, 0, time.UTC), true},
		"half past one again":               {"6-0100-0200", time.Date(2026, 11, 1, 9, 30, 0, 0, time.UTC), true},
		"two o'clock":                       {"6-0100-0200", time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), false},
		"before the hour that is left out":  {"6-0200-0300", time.Date(2026, 3, 8, 9, 59, 59, 0, time.UTC), false},
		"after the hour that is left out":   {"6-0200-0300", time.Date(2026, 3, 8, 10, 0, 0, 0, time.UTC), false},
		"the hour after that":               {"6-0300-0400", time.Date(2026, 3, 8, 10, 0, 0, 0, time.UTC), true},
		"2359 is the end of the day":        {"0-0000-2359", time.Date(2026, 11, 17, 7, 59, 59, 999e6, time.UTC), true},
		"and not of the next":               {"0-0000-2359", time.Date(2026, 11, 17, 8, 0, 0, 0, time.UTC), false},
		"another end has its minute beyond": {"0-0000-2358", time.Date(2026, 11, 17, 7, 58, 0, 0, time.UTC), false},
	} {
		require.Equal(t, c.want, Within([]string{c.period}, "US/Pacific", c.at), name)
	}
}

// Ranges hold addresses however both are written.
func TestRangesOfBothFamilies(t *testing.T) {
	for text, inside := range map[string]map[string]bool{
		"10.1.0.0/16":         {"10.1.2.3": true, "10.2.0.0": false, "::ffff:10.1.2.3": true, "::10.1.2.3": false},
		"10.1.2.3/16":         {"10.1.255.255": true},
		"::ffff:10.1.0.0/112": {"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.0": false},
		"2001:db8::/32": {"2001:db8:1::1": true, "2001:db9::": false, "10.1.2.3": false,
			"2001:db8::1%eth0": true},
		"0.0.0.0/0":             {"10.1.2.3": true, "2001:db8::1": false},
		"::/0":                  {"2001:db8::1": true, "10.1.2.3": false},
		"nonsense":              {"10.1.2.3": false, "::": false},
		"::ffff:10.1.0.0/8":     {"10.1.2.3": false},
		"::ffff:255.0.0.0/none": {"255.0.0.0": false},
	} {
		a := Account{AccessRestriction: Texts{"enable_ip_restrictions"}, AllowableRange: Texts{text}}
		for from, want := range inside {
			require.Equal(t, want, identity.Within(a.Ranges(), netip.MustParseAddr(from)), "%s in %s", from, text)
		}
	}
	for text, ok := range map[string]bool{"10.0.0.0/8": true, "2001:db8::/32": true, "::ffff:10.0.0.0/104": true,
		"::ffff:10.0.0.0/8": false, "10.0.0.1": false,
		"10.0.0.0/33": false, "10.0.0.0/255.0.0.0": false, "": false, "fe80::1%eth0/64": false} {
		require.Equal(t, ok, checkRange(text) == nil, text)
	}
}

func FuzzParsePeriod(f *testing.F) {
	for _, s := range []string{"0-0800-1730", "6-0000-2400", "7-0-0", "0--", "1-2359-2400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePeriod(s)
		if err == nil && (p.Day < 0 || p.Day > 6 || p.Start >= p.End || p.End > 1440) {
			t.Fatalf("%q is %+v", s, p)
		}
	})
}

func TestEmailAndPhone(t *testing.T) {
	for s, ok := range map[string]bool{"a@x.org": true, "a+b@x.org": true, "A.B@x": true, "": false, "a": false,
		"a@": false, "@x": false, "é@x.org": false, "a b@x.org": false,
		"A <a@x.org>": false, "a@x.org\r\nBcc: b@x.org": false, `"a"@x.org`: false, "a@x.org,b@x.org": false,
		strings.Repeat("a", 250) + "@x.org": false} {
		require.Equal(t, ok, CheckEmail(s) == nil, s)
	}
	for s, ok := range map[string]bool{"+1 (512) 555-0100": true, "05551234": true, "1234": false, "call me": false,
		"+1+2345678": false, "1234567890123456": false} {
		require.Equal(t, ok, CheckPhone(s) == nil, s)
	}
	require.Equal(t, "a@x.org", Fold(" A@X.org "))
}

func TestStamp(t *testing.T) {
	require.Equal(t, "20190409023726.396", Stamp(time.Date(2019, 4, 9, 2, 37, 26, 396_000_000, time.UTC)))
	require.Empty(t, Stamp(time.Time{}))
	require.Equal(t, time.UTC, Zone("Local"))
	require.Equal(t, time.UTC, Zone("No/Where"))
}

func TestSessionLives(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := Session{Created: now, Seen: now, Expires: now.Add(time.Hour)}
	require.True(t, s.Live(now.Add(59*time.Minute), 0))
	require.False(t, s.Live(now.Add(time.Hour), 0))
	require.False(t, s.Live(now.Add(10*time.Minute), 10*time.Minute))
	require.True(t, s.Live(now.Add(9*time.Minute), 10*time.Minute))
	require.True(t, Session{Seen: now}.Live(now.AddDate(50, 0, 0), 0), "no end means for ever")
}

func TestValuesReadAndPrint(t *testing.T) {
	var f Flag
	require.NoError(t, json.Unmarshal([]byte("1"), &f))
	require.True(t, bool(f))
	require.NoError(t, json.Unmarshal([]byte("null"), &f))
	require.Error(t, json.Unmarshal([]byte("2"), &f))
	var a Account
	raw, err := json.Marshal(Account{MapLines: Object(`{"a":1}`), CameraShares: Lists{{"c", "r"}},
		ResponderActive: true})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &a))
	require.JSONEq(t, `{"a":1}`, string(a.MapLines))
	require.Equal(t, Lists{{"c", "r"}}, a.CameraShares)
	require.Equal(t, "e7", User{JSON: `{"vms":{"employee_id":"e7"}}`}.EmployeeID())
	require.Empty(t, User{JSON: "[]"}.EmployeeID())
}
