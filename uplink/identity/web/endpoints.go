package web

import (
	"net/http"

	"vmsbridge/uplink/identity/api"
)

// Endpoint is one row of the interface: what there is, and the codes that the document lists for it, the success first and
// the others in the document's order of precedence.
type Endpoint struct {
	Method, Path string
	Codes        []int
	// session says that only someone who is signed in gets further than 401.
	session bool
	// limited says that it can be used to guess something, and so only so often.
	limited bool
	// lenient says that parameters which nobody knows are ignored: clients were seen to send the whole former answer.
	lenient bool
	serve   func(*call) error
	// crossSite says that another site's page is meant to send it: the identity provider's. What it says must prove itself.
	crossSite bool
}

// String names the endpoint as the document does.
func (e Endpoint) String() string { return e.Method + " " + e.Path }

// pathLogout takes cookies back.
const pathLogout = "/g/aaa/logout"

// checksOrigin reports whether a page of another site may not send this: what a browser's cookie
// answers for, and whatever may set a cookie or take one back, wherever the session stands. Else a
// parameter A of any value would let another site sign a browser in as somebody else.
func (e Endpoint) checksOrigin(session api.Source) bool {
	if e.crossSite {
		return false
	}
	ofCookie := session == api.FromCookie || session == api.FromNowhere
	return ofCookie || !e.session || e.Path == pathLogout
}

// refusals are the codes without the success.
func (e Endpoint) refusals() []int { return e.Codes[1:] }

// Beyond are codes that any endpoint may give although the document's lists leave them out: 401 without a session where one
// is needed, 403 for a request that another site made a browser send, a body too large, too many requests, a fault of
// ours, and a part that is not configured.
var Beyond = []int{401, 403, 413, 429, 500, 503}

const (
	get, put, post, del = http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete
)

// Endpoints lists what there is. §4.1, §4.2, §4.3, and the devices of public-facts.
var Endpoints = []Endpoint{
	{post, "/g/aaa/authenticate", []int{200, 400, 401, 402, 460, 461, 412, 462}, false, true, true, (*call).authenticate, false},
	{post, "/g/aaa/two_factor_authenticate", []int{200, 400, 412, 415}, false, true, false, (*call).sendCode, false},
	{post, "/g/aaa/authorize", []int{200, 400, 401, 406, 429}, false, true, true, (*call).authorize, false},
	{post, "/g/aaa/two_factor_authenticate/update", []int{200, 400, 401, 415}, true, true, false, (*call).updateFactor, false},
	{post, "/g/aaa/two_factor_authenticate/verify", []int{200, 400, 406}, true, true, false, (*call).verifyFactor, false},
	{post, "/g/aaa/create_account", []int{202, 400, 406, 409}, false, true, false, (*call).createAccount, false},
	{post, "/g/aaa/validate_account", []int{200, 400, 402, 406, 409, 412, 460}, false, true, false, (*call).validateAccount, false},
	{post, "/g/aaa/forgot_password", []int{202, 400, 402, 406, 412, 460, 461, 462}, false, true, false, (*call).forgotPassword, false},
	{post, "/g/aaa/check_pw_reset_token", []int{202, 400, 402, 406, 412, 460, 461}, false, true, false, (*call).checkReset, false},
	{post, "/g/aaa/reset_password", []int{200, 400, 402, 406, 412, 460, 461}, false, true, false, (*call).resetPassword, false},
	{post, "/g/aaa/resend_registration_email", []int{202, 400, 402, 404, 409, 412, 460}, false, true, false, (*call).resendRegistration, false},
	{post, "/g/aaa/resend_user_verification_email", []int{202, 400, 402, 404, 409, 412, 460, 461}, false, true, false, (*call).resendVerification, false},
	{post, "/g/aaa/change_password", []int{200, 400, 401, 404, 406}, true, true, false, (*call).changePassword, false},
	{post, "/g/aaa/switch_account", []int{200, 400, 401, 404}, true, false, false, (*call).switchAccount, false},
	{post, "/g/sso", []int{200, 400, 401, 404}, false, true, true, (*call).sso, true},
	{get, "/g/aaa/isauth", []int{200, 401}, true, false, true, (*call).isAuth, false},
	{post, pathLogout, []int{204, 400, 401}, true, false, false, (*call).logout, false},
	{get, pathLogout, []int{204, 400, 401}, true, false, false, (*call).logout, false}, // clients were seen to GET it

	{get, "/g/account", []int{200, 400, 401, 403, 404}, true, false, false, (*call).getAccount, false},
	{put, "/g/account", []int{200, 400, 401, 403, 409}, true, false, false, (*call).putAccount, false},
	{post, "/g/account", []int{200, 400, 401, 403, 404}, true, false, false, (*call).postAccount, false},
	{del, "/g/account", []int{200, 400, 401, 403, 404}, true, false, false, (*call).deleteAccount, false},
	{get, "/g/account/list", []int{200, 400, 401, 403}, true, false, false, (*call).listAccounts, false},
	{get, "/g/account/statistics/sub_accounts", []int{200, 400, 401, 403, 404}, true, false, false, statistic("account_total", countChildren), false},
	{get, "/g/account/statistics/users", []int{200, 400, 401, 403, 404}, true, false, false, statistic("user_total", countUsers), false},
	{get, "/g/account/statistics/bridges", []int{200, 400, 401, 403, 404}, true, false, false, statistic("bridge_total", countBridges), false},
	{get, "/g/account/statistics/cameras", []int{200, 400, 401, 403, 404}, true, false, false, statistic("camera_total", countCameras), false},
	{get, "/g/account/statistics/online_users", []int{200, 400, 401, 403, 404}, true, false, false, statistic("online_user_total", countOnlineUsers), false},
	{get, "/g/account/statistics/online_cameras", []int{200, 400, 401, 403, 404}, true, false, false, statistic("camera_online_total", countOnlineCameras), false},

	{get, "/g/user", []int{200, 400, 401, 403, 404}, true, false, false, (*call).getUser, false},
	{put, "/g/user", []int{200, 400, 401, 403, 409}, true, false, false, (*call).putUser, false},
	{post, "/g/user", []int{200, 400, 401, 403, 404}, true, false, false, (*call).postUser, false},
	{del, "/g/user", []int{200, 400, 401, 403, 404}, true, false, false, (*call).deleteUser, false},
	{get, "/g/user/list", []int{200, 401, 403}, true, false, true, (*call).listUsers, false},

	// Not the document's: it has user_authenticated_clients and no call that names one or takes it out.
	{get, pathClients, []int{200, 400, 401, 404}, true, false, false, (*call).listClients, false},
	{post, pathClients, []int{200, 400, 401, 404}, true, false, false, (*call).nameClient, false},
	{del, pathClients, []int{200, 400, 401, 404}, true, false, false, (*call).dropClient, false},

	{get, "/g/device", []int{200, 400, 401, 404}, true, false, false, (*call).getDevice, false},
	{get, "/g/device/list", []int{200, 401}, true, false, true, (*call).listDevices, false},

	// Not the document's: it has is_view_audit_trail and no call for it.
	{get, "/g/audit/list", []int{200, 400, 401, 403, 404}, true, false, false, (*call).listTrail, false},
}
