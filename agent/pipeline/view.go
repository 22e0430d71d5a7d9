package pipeline

import (
	"sync/atomic"
	"time"

	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

// view is what a pipeline knows of its camera's view.
type view struct {
	watch    *tamper.Watch // nil: not watched
	reason   atomic.Uint32 // a tamper.Reason, for other goroutines
	doubted  time.Time     // when the last still was kept because of a doubt
	doubts   bool
	told     map[string]time.Time // by region: start of the last span reported since the view was covered
	withheld map[string]vms.Event // by region: spans of motion that go on and were not reported
}
