// Package session signs people in and knows them afterwards: the two steps of §5 (authenticate, authorize), the states of
// accounts and users that forbid it, limits on attempts, address ranges and hours, and the sessions that come of it.
// It works on identity/store; identity/factor adds the second factor, identity/web the HTTP around it.
//
//	ticket, factors, err := desk.Authenticate(ctx, session.Login{Email: email, Password: password, From: addr})
//	key, user, err := desk.Authorize(ctx, session.Claim{Token: ticket, From: addr})
//	caller, err := desk.Caller(key, addr) // of a later request
package session
