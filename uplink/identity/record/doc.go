// Package record holds what is kept of accounts, users, sessions, tickets and bearer tokens, with every field of the
// interface's §2: its type, its default, which calls may set it and who may. It is data and rules about data; it does no
// I/O. identity/store keeps these records, identity/rule says who may touch whose, identity/web reads and writes them.
//
// Account and User are the records as the interface prints them; what only the service may know (password hash, failed
// attempts, lock) stands in Account.Inner and User.Inner and never leaves. AccountFields and UserFields are tables with
// one row a field; a test holds them against the structs.
//
//	change, err := record.ParseUser(args, record.Update) // checked values of the fields that the call may set
//	user, err = change.Apply(user)
package record
