// Package registry knows the bridges of all accounts, and who may have events: their cameras, and
// what else has reported once. A bridge registers itself and its cameras, over the interface
// (uplink/server); the service side asks here whose a camera is, which bridge has it and how both
// are, before it takes an event, passes a question on or opens a tunnel. It stands in memory and in
// records (storage/database).
//
//	r, err := registry.Open(path)
//	r.Away, r.LastSeen, r.Holds = watch.Away, watch.LastSeen, ids.HolderStands
//	err = r.Register(ctx, principal, registration)
//	camera, bridge, known := r.Camera(account, "camera 1")
package registry
