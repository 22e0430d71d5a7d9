package file

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	commits, failures, recoveries, compactions prometheus.Counter
}

// newMetrics makes the counters, which register gives to a registerer once the file is open.
func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_journal_" + name, Help: help})
	}
	return &metrics{
		commits:     counter("commits_total", "Durable transactions; several changes share one."),
		failures:    counter("commit_failures_total", "Transactions that could not be written."),
		recoveries:  counter("recoveries_total", "Damaged files that were set aside and recovered."),
		compactions: counter("compactions_total", "Times that the file was written anew without its free pages."),
	}
}

func (m *metrics) register(reg prometheus.Registerer) {
	if reg != nil {
		reg.MustRegister(m.commits, m.failures, m.recoveries, m.compactions)
	}
}
