package clock

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// register shows the clock's state on r, if there is one.
func (c *Clock) register(r prometheus.Registerer) {
	if r == nil {
		return
	}
	f := promauto.With(r)
	gauge := func(name, help string, value func(State) float64) {
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_clock_" + name, Help: help},
			func() float64 { return value(c.State()) })
	}
	counter := func(name, help string, value func(State) float64) {
		f.NewCounterFunc(prometheus.CounterOpts{Name: "vmsbridge_clock_" + name, Help: help},
			func() float64 { return value(c.State()) })
	}
	gauge("true", "1 if the clock is known to be true; else events wait.", func(s State) float64 {
		if s.Source == Waiting {
			return 0
		}
		return 1
	})
	gauge("since_timestamp_seconds", "Since when the clock is true, or else waits to be.", func(s State) float64 {
		return float64(s.Since.UnixMilli()) / 1000
	})
	gauge("last_step_seconds", "By how much the time stepped at its last step of more than a second.",
		func(s State) float64 { return s.LastStep.By.Seconds() })
	counter("steps_total", "Steps of the time by more than a second.", func(s State) float64 {
		return float64(s.Steps)
	})
	counter("unplaced_events_total", "Events of boots that ended before the clock was true, which are placed roughly.",
		func(s State) float64 { return float64(s.Unplaced) })
}
