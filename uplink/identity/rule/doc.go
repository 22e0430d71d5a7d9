// Package rule decides who may do what to whom: the seven user management rules of §4.3 as one table, the same for
// accounts, and which cameras and pictures a user may see. Pure functions of records; no I/O. identity/web asks it before
// every read and change, identity/store before it makes a Principal.
//
//	rule.Users.Allows(rule.CallerOf(user, home), rule.PlaceOf(home, targetAccount), rule.KindOf(target), rule.Delete)
package rule
