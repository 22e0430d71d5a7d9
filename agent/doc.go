// Package agent is the running bridge: the one package that knows all other rooms. It gives every camera a pipeline
//
//	camera → access unit → picture → activity → span → event → outlet → journal → reporter → service
//	                          picture → still → ring
//
// all on one time (agent/clock), which becomes true before anything leaves, and supervises them: one camera's trouble, a panic
// included, costs the others nothing. It also serves the bridge's local API, registers the bridge with the service, and closes at start what a crash had cut off.
//
//	a, err := agent.New(cfg, agent.Options{Log: log, Version: "1.0.0"})
//	err = a.Run(ctx) // until ctx is done
package agent
