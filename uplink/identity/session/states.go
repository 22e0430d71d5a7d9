package session

import (
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
)

// The answers that the steps of sign-in share.
var (
	errCredentials = api.NewError(api.CodeInvalid, "InvalidCredentials", "the address or the password is wrong")
	errToken       = api.NewError(api.CodeInvalid, "InvalidToken", "the token is wrong, used or expired")
	errSession     = api.NewError(api.CodeInvalid, "InvalidSession", "the session is not valid; sign in again")
	errSuspended   = api.NewError(api.CodeSuspended, "AccountSuspended", "the account is suspended")
	errInactive    = api.NewError(api.CodeInactive, "AccountInactive", "the account is inactive")
	errPending     = api.NewError(api.CodePending, "AccountPending",
		"the account is not validated yet; follow the link in the mail")
	errDisabled    = api.NewError(api.CodeDisabled, "UserDisabled", "the user is disabled or locked; ask support")
	errHours       = api.NewError(api.CodeDisabled, "OutsideAccessPeriod", "the user may not sign in at this time")
	errUserPending = api.NewError(api.CodeUserState, "UserPending",
		"the user has no password yet; follow the link in the mail")
	errReset   = api.NewError(api.CodeUnverified, "InvalidToken", "the token is wrong, used or expired")
	errEmail   = api.NewError(api.CodeUnverified, "InvalidEmail", "that is no address that could be verified")
	errUnknown = api.NewError(api.CodeNotFound, "UserNotFound", "there is no such user")
	errActive  = api.NewError(api.CodeConflict, "AlreadyActive", "that is active already")
	errRealm   = api.NewError(api.CodeUnverified, "InvalidRealm", "the realm is not a root realm")
	errTaken   = api.NewError(api.CodeConflict, "EmailExists", "the address is registered already")
	errLocked  = api.NewError(api.CodeLocked, "UserLocked", "too many wrong codes; the user is locked, ask support")
)

// states notes what of a user and account stands against signing in. Call it for a user who was
// found.
func states(h *api.Held, u model.User, home model.Account) {
	h.Add(home.Is(model.StatusSuspended), errSuspended)
	h.Add(home.Is(model.StatusInactive), errInactive)
	h.Add(home.Is(model.StatusPending), errPending)
	h.Add(u.Disabled(), errDisabled)
	h.Add(waits(u, home), errUserPending)
}

// waits says whether a user of an active account has no password yet.
func waits(u model.User, home model.Account) bool {
	return bool(u.IsPending) && home.Is(model.StatusActive)
}
