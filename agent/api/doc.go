// Package api is the bridge's local HTTP side: the service's own interface, so that a program
// written for the service works against the bridge, with signing in; the page for people on the
// LAN; health checks and metrics; and, on the control socket, what root and the bridge's own user
// may ask (agent/control).
//
//	a, err := api.New(api.Options{Config: running, Store: s, Status: status, …})
//	defer a.Close()
//	go a.RunLocal(ctx)
//	err = a.Run(ctx, listener)
package api
