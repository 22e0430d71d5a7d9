// Package agent is the running bridge: the one package that knows all other parts. It gives every
// camera a pipeline
//
//	camera → access unit → picture → activity → span → event → journal → delivery → service
//	                          picture → still → ring
//
// (agent/pipeline over agent/archive), all on one time (agent/clock), which becomes true before
// anything leaves, and has them supervised (agent/supervisor): one camera's trouble, a panic
// included, costs the others nothing. It serves the local API (agent/api), ties the bridge to the
// service, reads its configuration anew while it runs (reload.go), and says how it is (status.go
// fills in what agent/health judges; progress.go shows the service manager that it moves). Here is
// only wiring: agent.go has the parts, run.go makes, starts and ends them.
//
//	a, err := agent.New(cfg, agent.Options{Log: log, Version: "1.0.0"})
//	err = a.Run(ctx) // until ctx is done
package agent
