package reporter

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics count what became of events.
type metrics struct {
	accepted, parked prometheus.Counter
	failures         *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	f := promauto.With(reg)
	m := &metrics{
		accepted: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_reporter_accepted_total", Help: "Events that the service took."}),
		parked:   f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_reporter_parked_total", Help: "Events that the service refused for good."}),
		failures: f.NewCounterVec(prometheus.CounterOpts{Name: "vmsbridge_reporter_failures_total", Help: "Attempts that failed, by whose fault it seems to be."}, []string{"fault"}),
	}
	for _, whose := range []fault{ofService, ofToken, ofEvent} { // series that begin at 0 show their first step
		m.failures.WithLabelValues(whose.String())
	}
	return m
}
