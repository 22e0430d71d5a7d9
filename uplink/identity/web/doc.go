// Package web is the HTTP side of signing in, accounts and users: every endpoint and the list of
// devices under /g/, with cookies, protection against requests that another site makes a browser
// send, and limits on how often. It decodes with identity/api, asks identity/model, changes through
// identity/store and signs in through identity/session. Both programs mount it: vmscloud for many
// accounts, the bridge for its own.
//
// Endpoints is the table of what there is: method, path, the codes of the interface in its order. A
// handler that answers anything else is a fault that the tests find, and so is a row with a code
// that no test has seen.
//
// Who asks forgot_password or one of the resend calls learns by the interface's codes whether an
// address is registered and in which state: 404 and 409, 402, 460, 461, 462. Limits for each
// address that asks keep that from being a way to make lists.
//
//	h, err := web.New(web.Options{Store: ids, Sessions: sessions, Devices: registry, Log: log})
//	mux.Handle("/g/", h)
package web
