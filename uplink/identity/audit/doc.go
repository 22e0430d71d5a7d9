// Package audit is the trail of changes: who did what to what, when and from where. identity/store writes an Entry in the
// transaction of the change itself, so that there is no change without its entry. Names of changed fields are kept, the
// values are not: some are secrets.
package audit
