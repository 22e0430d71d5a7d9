package web

import (
	"errors"
	"net/http"
	"slices"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/vms"
)

// Endpoint is one row of the interface.
type Endpoint struct {
	Method, Path string
	// Codes are those that the interface lists, the success first and the others in their order of
	// precedence: of several that hold at once, the last is given. What decides gets them from
	// here.
	Codes []int
	// session says that only someone who is signed in gets further than 401.
	session bool
	// limited says that it can be used to guess something, and so only so often.
	limited bool
	// lenient says that parameters which nobody knows are ignored: clients were seen to send the
	// whole former answer.
	lenient bool
	// serve gives the body of the success, nil for none.
	serve func(*call) (any, error)
	// crossSite says that another site's page is meant to send it: the identity provider's. What it
	// says must prove itself.
	crossSite bool
}

// String names the endpoint as the interface does.
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

// closed keeps an error to the codes of the endpoint: an answer that is not listed is a fault.
func (e Endpoint) closed(err error) error {
	var answer *api.Error
	if errors.As(err, &answer) && !slices.Contains(e.Codes, answer.Code) && !slices.Contains(Beyond, answer.Code) {
		return errors.New("unlisted answer: " + answer.Error())
	}
	return err
}

// Beyond are codes that any endpoint may give although the interface's lists leave them out: 401
// without a session where one is needed, 403 for a request that another site made a browser send, a
// body too large, too many requests, a fault of ours, and a part that is not configured.
var Beyond = []int{401, 403, 413, 429, 500, 503}

const (
	get, put, post, del = http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete
)

// Endpoints lists what there is: sign-in, accounts, users, and the devices as the public service
// lists them.
var Endpoints = []Endpoint{
	{Method: post, Path: "/g/aaa/authenticate", Codes: []int{200, 400, 401, 402, 460, 461, 412, 462},
		limited: true, lenient: true, serve: (*call).authenticate},
	{Method: post, Path: "/g/aaa/two_factor_authenticate", Codes: []int{200, 400, 412, 415},
		limited: true, serve: (*call).sendCode},
	{Method: post, Path: "/g/aaa/authorize", Codes: []int{200, 400, 401, 406, 429},
		limited: true, lenient: true, serve: (*call).authorize},
	{Method: post, Path: "/g/aaa/two_factor_authenticate/update", Codes: []int{200, 400, 401, 415},
		session: true, limited: true, serve: (*call).updateFactor},
	{Method: post, Path: "/g/aaa/two_factor_authenticate/verify", Codes: []int{200, 400, 406},
		session: true, limited: true, serve: (*call).verifyFactor},
	{Method: post, Path: "/g/aaa/create_account", Codes: []int{202, 400, 406, 409},
		limited: true, serve: (*call).createAccount},
	{Method: post, Path: "/g/aaa/validate_account", Codes: []int{200, 400, 402, 406, 409, 412, 460},
		limited: true, serve: (*call).validateAccount},
	{Method: post, Path: "/g/aaa/forgot_password", Codes: []int{202, 400, 402, 406, 412, 460, 461, 462},
		limited: true, serve: (*call).forgotPassword},
	{Method: post, Path: "/g/aaa/check_pw_reset_token", Codes: []int{202, 400, 402, 406, 412, 460, 461},
		limited: true, serve: (*call).checkReset},
	{Method: post, Path: "/g/aaa/reset_password", Codes: []int{200, 400, 402, 406, 412, 460, 461},
		limited: true, serve: (*call).resetPassword},
	{Method: post, Path: "/g/aaa/resend_registration_email", Codes: []int{202, 400, 402, 404, 409, 412, 460},
		limited: true, serve: (*call).resendRegistration},
	{Method: post, Path: "/g/aaa/resend_user_verification_email", Codes: []int{202, 400, 402, 404, 409, 412, 460, 461},
		limited: true, serve: (*call).resendVerification},
	{Method: post, Path: "/g/aaa/change_password", Codes: []int{200, 400, 401, 404, 406},
		session: true, limited: true, serve: (*call).changePassword},
	{Method: post, Path: "/g/aaa/switch_account", Codes: []int{200, 400, 401, 404},
		session: true, serve: (*call).switchAccount},
	{Method: post, Path: "/g/sso", Codes: []int{200, 400, 401, 404},
		limited: true, lenient: true, crossSite: true, serve: (*call).sso},
	{Method: get, Path: "/g/aaa/isauth", Codes: []int{200, 401}, session: true, lenient: true, serve: (*call).isAuth},
	{Method: post, Path: pathLogout, Codes: []int{204, 400, 401}, session: true, serve: (*call).logout},
	{Method: get, Path: pathLogout, Codes: []int{204, 400, 401},
		session: true, serve: (*call).logout}, // clients were seen to GET it

	{Method: get, Path: "/g/account", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: (*call).getAccount},
	{Method: put, Path: "/g/account", Codes: []int{200, 400, 401, 403, 409},
		session: true, serve: (*call).putAccount},
	{Method: post, Path: "/g/account", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: (*call).postAccount},
	{Method: del, Path: "/g/account", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: (*call).deleteAccount},
	{Method: get, Path: "/g/account/list", Codes: []int{200, 400, 401, 403},
		session: true, serve: (*call).listAccounts},
	{Method: get, Path: "/g/account/statistics/sub_accounts", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: statistic("account_total", countChildren)},
	{Method: get, Path: "/g/account/statistics/users", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: statistic("user_total", countUsers)},
	{Method: get, Path: "/g/account/statistics/bridges", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: statistic("bridge_total", countDevices(vms.ActorBridge))},
	{Method: get, Path: "/g/account/statistics/cameras", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: statistic("camera_total", countDevices(vms.ActorCamera))},
	{Method: get, Path: "/g/account/statistics/online_users", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: statistic("online_user_total", countOnlineUsers)},
	{Method: get, Path: "/g/account/statistics/online_cameras", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: statistic("camera_online_total", countDevices(vms.ActorCamera, vms.StatusOnline))},

	{Method: get, Path: "/g/user", Codes: []int{200, 400, 401, 403, 404}, session: true, serve: (*call).getUser},
	{Method: put, Path: "/g/user", Codes: []int{200, 400, 401, 403, 409}, session: true, serve: (*call).putUser},
	{Method: post, Path: "/g/user", Codes: []int{200, 400, 401, 403, 404}, session: true, serve: (*call).postUser},
	{Method: del, Path: "/g/user", Codes: []int{200, 400, 401, 403, 404}, session: true, serve: (*call).deleteUser},
	{Method: get, Path: "/g/user/list", Codes: []int{200, 401, 403},
		session: true, lenient: true, serve: (*call).listUsers},

	// Not the interface's: it has user_authenticated_clients and no call that names one or takes it
	// out.
	{Method: get, Path: pathClients, Codes: []int{200, 400, 401, 404}, session: true, serve: (*call).listClients},
	{Method: post, Path: pathClients, Codes: []int{200, 400, 401, 404}, session: true, serve: (*call).nameClient},
	{Method: del, Path: pathClients, Codes: []int{200, 400, 401, 404}, session: true, serve: (*call).dropClient},

	// Not the interface's: it ends the caller's own session only.
	{Method: get, Path: pathSessions, Codes: []int{200, 400, 401, 404}, session: true, serve: (*call).listSessions},
	{Method: del, Path: pathSessions, Codes: []int{200, 400, 401, 404}, session: true, serve: (*call).endSession},

	{Method: get, Path: "/g/device", Codes: []int{200, 400, 401, 404}, session: true, serve: (*call).getDevice},
	{Method: get, Path: "/g/device/list", Codes: []int{200, 401},
		session: true, lenient: true, serve: (*call).listDevices},

	// Not the interface's: it has is_view_audit_trail and no call for it.
	{Method: get, Path: "/g/audit/list", Codes: []int{200, 400, 401, 403, 404},
		session: true, serve: (*call).listTrail},
}
