package main

import (
	"cmp"
	"context"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// cameras are the registry as the interface asks for it: who changes what is said of a camera is
// noted in the trail, and an event is made of that.
type cameras struct {
	*registry.Registry
	ids *store.Store
}

var (
	_ server.Describer    = cameras{}
	_ server.BridgeSource = cameras{}
)

// Describe is for server.Describer.
func (c cameras) Describe(_ context.Context, by identity.Principal, account, id string, change vms.CameraChange) error {
	if err := c.Registry.Describe(account, id, change); err != nil {
		return err
	}
	e := model.AuditEntry{AccountID: account, By: by.User.ID, ByName: cmp.Or(by.User.Email, by.Name),
		Action: model.AuditUpdate, Kind: model.KindCamera, Target: id, Name: c.Name(account, id)}
	for field, set := range map[string]bool{"name": change.Name != nil, "notes": change.Notes != nil,
		"tags": change.Tags != nil} {
		if set {
			e.Fields = append(e.Fields, field)
		}
	}
	return c.ids.Update(func(tx *store.Tx) error { return tx.Record(e) })
}
