package session

import (
	"vmsbridge/uplink/identity/record"
	"vmsbridge/uplink/identity/status"
)

// The answers of §7 that the rooms of sign-in share.
var (
	errCredentials = status.New(status.Invalid, "InvalidCredentials", "the address or the password is wrong")
	errToken       = status.New(status.Invalid, "InvalidToken", "the token is wrong, used or expired")
	errSession     = status.New(status.Invalid, "InvalidSession", "the session is not valid; sign in again")
	errSuspended   = status.New(status.Suspended, "AccountSuspended", "the account is suspended")
	errInactive    = status.New(status.Inactive, "AccountInactive", "the account is inactive")
	errPending     = status.New(status.Pending, "AccountPending", "the account is not validated yet; follow the link in the mail")
	errDisabled    = status.New(status.Disabled, "UserDisabled", "the user is disabled or locked; ask support")
	errHours       = status.New(status.Disabled, "OutsideAccessPeriod", "the user may not sign in at this time")
	errUserPending = status.New(status.UserState, "UserPending", "the user has no password yet; follow the link in the mail")
	errReset       = status.New(status.Unverified, "InvalidToken", "the token is wrong, used or expired")
	errEmail       = status.New(status.Unverified, "InvalidEmail", "that is no address that could be verified")
	errUnknown     = status.New(status.NotFound, "UserNotFound", "there is no such user")
	errActive      = status.New(status.Conflict, "AlreadyActive", "that is active already")
	errRealm       = status.New(status.Unverified, "InvalidRealm", "the realm is not a root realm")
	errTaken       = status.New(status.Conflict, "EmailExists", "the address is registered already")
	errLocked      = status.New(status.Locked, "UserLocked", "too many wrong codes; the user is locked, ask support")
)

// states notes what of a user and account stands against signing in. Call it for a user who was found.
func states(h *status.Held, u record.User, home record.Account) {
	h.Add(home.Is(record.StatusSuspended), errSuspended)
	h.Add(home.Is(record.StatusInactive), errInactive)
	h.Add(home.Is(record.StatusPending), errPending)
	h.Add(u.Disabled(), errDisabled)
	h.Add(waits(u, home), errUserPending)
}

// waits says whether a user of an active account has no password yet.
func waits(u record.User, home record.Account) bool {
	return bool(u.IsPending) && home.Is(record.StatusActive)
}
