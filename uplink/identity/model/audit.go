package model

import (
	"net/netip"
	"time"
)

// AuditAction is what was done.
type AuditAction string

// The actions.
const (
	AuditCreate   AuditAction = "create"
	AuditUpdate   AuditAction = "update"
	AuditDelete   AuditAction = "delete"
	AuditSignIn   AuditAction = "sign_in"
	AuditSignOut  AuditAction = "sign_out"
	AuditSwitch   AuditAction = "switch_account"
	AuditPassword AuditAction = "password" // set, changed or reset
	AuditLock     AuditAction = "lock"
	AuditUnlock   AuditAction = "unlock"
	AuditActivate AuditAction = "activate"
	AuditRefuse   AuditAction = "refuse" // a wrong password or code of a known user
)

// What is acted on.
const (
	KindAccount = "account"
	KindUser    = "user"
	KindToken   = "token"
	KindCamera  = "camera"
	KindBridge  = "bridge"
)

// AuditEntry is one line of the trail.
type AuditEntry struct {
	Seq       uint64      `json:"seq"` // by the store, rising
	Time      time.Time   `json:"time"`
	AccountID string      `json:"accountId"`        // whose trail it stands in: that of the target
	By        string      `json:"by,omitempty"`     // user id, "" for the service itself
	ByName    string      `json:"byName,omitempty"` // the user's address at that time
	From      string      `json:"from,omitempty"`   // address of the client
	Action    AuditAction `json:"action"`
	Kind      string      `json:"kind"`
	Target    string      `json:"target"`           // id
	Name      string      `json:"name,omitempty"`   // what it was called
	Fields    []string    `json:"fields,omitempty"` // names of what changed, never values
	// Gone says that the target went with its account, so that the entry stands in the trail of the
	// account that is left.
	Gone bool `json:"gone,omitempty"`
}

// Address is an address as AuditEntry.From has it, "" if it is not known.
func Address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().String()
}
