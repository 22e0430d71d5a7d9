package notify

import (
	"cmp"
	"fmt"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/vms"
)

// creator is what these events name as their creator. The interface shows no value for them.
const creator = "vms.identity"

// schema is the one that the catalogue allows with these events; its fields are resourceId and
// resourceName, from the public schemas.
const schema = "vms.resourceDetails.v1"

// kinds are the types of events by what is acted on and how. Signing in and out and what was
// refused changes no account and no user. A password or a lock changes a user.
var kinds = map[string]map[model.AuditAction]string{
	model.KindAccount: {model.AuditCreate: "vms.accountCreationEvent.v1",
		model.AuditDelete: "vms.accountDeletionEvent.v1",
		model.AuditUpdate: "vms.accountUpdateEvent.v1", model.AuditActivate: "vms.accountUpdateEvent.v1"},
	model.KindCamera: {model.AuditCreate: "vms.deviceCreationEvent.v1", model.AuditDelete: "vms.deviceDeletionEvent.v1",
		model.AuditUpdate: "vms.deviceUpdateEvent.v1"},
	model.KindBridge: {model.AuditCreate: "vms.deviceCreationEvent.v1", model.AuditDelete: "vms.deviceDeletionEvent.v1",
		model.AuditUpdate: "vms.deviceUpdateEvent.v1"},
	model.KindUser: {model.AuditCreate: "vms.userCreationEvent.v1", model.AuditDelete: "vms.userDeletionEvent.v1",
		model.AuditUpdate:   "vms.userUpdateEvent.v1",
		model.AuditActivate: "vms.userUpdateEvent.v1", model.AuditPassword: "vms.userUpdateEvent.v1",
		model.AuditLock: "vms.userUpdateEvent.v1", model.AuditUnlock: "vms.userUpdateEvent.v1"},
}

// auditEvent is what an entry makes, ok false if it makes none. The actor of an account's event is
// the account in whose trail it stands, which is the parent for a sub-account that was deleted, and
// so is that of what went with it; that of another user's event is the user.
func auditEvent(e model.AuditEntry) (ev vms.Event, ok bool, err error) {
	typ := kinds[e.Kind][e.Action]
	if typ == "" || e.AccountID == "" || e.Target == "" {
		return ev, false, nil
	}
	at := vms.At(e.Time)
	ev = vms.Event{Type: typ, StartTimestamp: at, EndTimestamp: &at, AccountID: e.AccountID,
		ActorAccountID: e.AccountID, CreatorID: creator,
		ActorType: e.Kind, ActorID: e.Target}
	if e.Kind == model.KindAccount || e.Gone {
		ev.ActorType, ev.ActorID = model.KindAccount, e.AccountID
	}
	d, err := vms.MakeData(struct {
		Type         string `json:"type"`
		CreatorID    string `json:"creatorId"`
		ResourceID   string `json:"resourceId"`
		ResourceName string `json:"resourceName"`
	}{schema, creator, e.Target, cmp.Or(e.Name, e.Target)})
	if err != nil {
		return ev, false, fmt.Errorf("make event of a change: %w", err)
	}
	ev.SetData(d)
	return ev, true, nil
}
