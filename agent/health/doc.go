// Package health is how the bridge is. The agent fills in a Report; one table of checks (checks.go)
// says what of it is wrong, in words for a person, and what to do. vmsbridge status, the page's
// /healthz, the metrics and the support bundle show the same findings. What watches the bridge from
// outside is here too: the events of its own operations, and the service manager's watchdog.
//
//	r := health.Report{Time: now, Disk: health.Space{Path: data, Free: 1e6, Total: 32e9, Least: 512e6}}
//	r.Judge()
//	err := r.Print(os.Stdout) // "1 thing is wrong: the disk that holds …"
package health
