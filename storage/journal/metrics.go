package journal

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	puts, pruned, dropped, damaged, listed prometheus.Counter
}

// newMetrics makes the counters, which register gives to a registerer once the journal is open.
func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_journal_" + name, Help: help})
	}
	return &metrics{
		puts:   counter("puts_total", "Events stored or replaced."),
		pruned: counter("pruned_events_total", "Events removed by age or number."),
		dropped: counter("dropped_events_total",
			"Events whose report was given up because the outbox was full or they had waited too long."),
		damaged: counter("damaged_values_total", "Stored values that were skipped because they are damaged."),
		listed:  counter("listed_entries_total", "Index entries read to answer lists."),
	}
}

func (m *metrics) register(reg prometheus.Registerer, j *Journal) {
	if reg == nil {
		return
	}
	reg.MustRegister(m.puts, m.pruned, m.dropped, m.damaged, m.listed)
	f := promauto.With(reg)
	gauge := func(name, help string, value func(Stats) float64) {
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_journal_" + name, Help: help}, func() float64 {
			s, err := j.OutboxStats()
			if err != nil {
				return 0
			}
			return value(s)
		})
	}
	gauge("outbox_events", "Events that wait to be reported.", func(s Stats) float64 { return float64(s.Waiting) })
	gauge("parked_events", "Events that the service refused for good.", func(s Stats) float64 {
		return float64(s.Parked)
	})
	gauge("size_bytes", "Size of the journal's file.", func(s Stats) float64 { return float64(s.Bytes) })
	gauge("outbox_oldest_age_seconds", "How long the oldest event has waited.", func(s Stats) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return max(0, j.opts.Now().Sub(s.Oldest).Seconds())
	})
}
