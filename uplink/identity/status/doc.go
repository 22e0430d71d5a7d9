// Package status holds the answers of the interface that are not a success: the codes of §7 with their order of
// precedence, and the error that carries one from where it is decided to where it is written. A leaf: everything below
// uplink/identity may import it.
//
// The document orders the codes an endpoint may give; when several hold at once, the last of that order is given:
//
//	var held status.Held
//	held.Add(wrongPassword, 401, "InvalidCredentials")
//	held.Add(account.IsSuspended, 402, "AccountSuspended")
//	return held.Last(400, 401, 402, 460, 461, 412, 462) // nil if none held
package status
