// Package model holds what is kept of accounts, users, sessions, tickets, bearer tokens and the
// audit trail, with every field of the interface: its type, its default, which calls may set it and
// who may. It decides who may do what to whom: the seven user management rules as one table, the
// same for accounts, and which cameras and pictures a user may see. It does no I/O: identity/store
// keeps these records, identity/web reads and writes them and asks for permission first.
//
// Account and User are the records as the interface prints them; what only the service may know
// (password hash, failed attempts, lock) stands in Account.Inner and User.Inner and never leaves.
// AccountFields and UserFields are tables with one row a field, made of the structs and of rules
// for those fields that a call may set.
//
// An AuditEntry says who did what to what, when and from where. The store writes it in the
// transaction of the change itself. Names of changed fields are kept, their values are not: some
// are secrets.
package model
