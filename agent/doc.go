// Package agent is the running bridge: the one package that knows all other rooms. It gives every camera a pipeline
//
//	camera → access unit → picture → activity → span → event → outlet → journal → reporter → service
//	                          picture → still → ring
//
// (agent/pipeline, agent/outlet), all on one time (agent/clock), which becomes true before anything leaves, and has them supervised
// (agent/crew): one camera's trouble, a panic included, costs the others nothing. It also serves the bridge's local API (api.go) and
// the door for root (control.go), ties the bridge to the service (agent/link), and closes at start what a crash had cut off. It
// reads its configuration anew while it runs (reload.go), says how it is (status.go gathers, judge.go says what is wrong, health.go
// and gauges.go pass it on) and shows the service manager that it moves (progress.go).
//
//	a, err := agent.New(cfg, agent.Options{Log: log, Version: "1.0.0"})
//	err = a.Run(ctx) // until ctx is done
package agent
