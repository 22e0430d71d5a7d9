// Package session signs people in and knows them afterwards: the two steps of sign-in
// (authenticate, authorize), the states of accounts and users that forbid it, limits on attempts,
// address ranges and hours, the second factor, and the sessions that come of it. It works on
// identity/store and sends through identity/notify; identity/web is the HTTP around it.
//
//	ticket, err := sessions.Authenticate(ctx, session.Login{Email: email, Password: password})
//	opened, err := sessions.Authorize(ctx, session.Claim{Token: ticket.Token})
//	caller, err := sessions.Caller(opened.Key, addr) // of a later request
//
// The second factor is a code of four digits by mail or SMS, good for 15 minutes and once. Devices
// are trusted after a sign-in with a code. More than three wrong codes lock the user, whether they
// were given to sign in or to change something: the count is the user's and only a right code
// clears it, so that beginning anew gives no further guesses.
package session
