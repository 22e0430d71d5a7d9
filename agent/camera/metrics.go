package camera

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of all Sources of a process, each with the labels camera and stream. Safe
// for concurrent use.
type Metrics struct {
	units, bytes, damaged, lost, decodeErrors, clamped, reconnects, panics *prometheus.CounterVec
	state                                                                  *prometheus.GaugeVec
}

// NewMetrics registers the metrics. Call it once per Registerer.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	labels := []string{"camera", "stream"}
	counter := func(name, help string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "vmsbridge_camera_" + name, Help: help}, labels)
	}
	return &Metrics{
		units:        counter("access_units_total", "Access units received."),
		bytes:        counter("access_unit_bytes_total", "Bytes of the access units received."),
		damaged:      counter("damaged_units_total", "Access units that depend on lost data."),
		lost:         counter("lost_packets_total", "RTP packets that never came."),
		decodeErrors: counter("unreadable_packets_total", "RTP and RTCP packets that could not be understood."),
		clamped:      counter("clamped_times_total", "Pictures whose RTP time was not believed."),
		reconnects:   counter("reconnects_total", "Sessions after the first."),
		panics:       counter("panics_total", "Bugs caught while handling a camera."),
		state: f.NewGaugeVec(prometheus.GaugeOpts{Name: "vmsbridge_camera_state",
			Help: "1 for the state that the camera's stream is in."}, append(labels, "state")),
	}
}

// add takes the growth between two snapshots over.
func (m *Metrics) add(camera, stream string, was, is Stats) {
	if m == nil {
		return
	}
	for _, c := range []struct {
		vec     *prometheus.CounterVec
		was, is uint64
	}{
		{m.units, was.Units, is.Units}, {m.bytes, was.Bytes, is.Bytes}, {m.damaged, was.Damaged, is.Damaged},
		{m.lost, was.LostPackets, is.LostPackets}, {m.decodeErrors, was.DecodeErrors, is.DecodeErrors},
		{m.clamped, was.ClampedTimes, is.ClampedTimes}, {m.reconnects, was.Reconnects, is.Reconnects}, {m.panics,
			was.Panics, is.Panics},
	} {
		c.vec.WithLabelValues(camera, stream).Add(float64(c.is - c.was))
	}
}

// setState moves the 1 from one state to the other; an empty state has no series.
func (m *Metrics) setState(camera, stream string, was, is State) {
	if m == nil || was == is {
		return
	}
	if was != "" {
		m.state.DeleteLabelValues(camera, stream, string(was))
	}
	if is != "" {
		m.state.WithLabelValues(camera, stream, string(is)).Set(1)
	}
}

// Forget drops the series of a camera whose sources have ended for good.
func (m *Metrics) Forget(camera string) {
	of := prometheus.Labels{"camera": camera}
	for _, v := range []*prometheus.CounterVec{m.units, m.bytes, m.damaged, m.lost, m.decodeErrors, m.clamped,
		m.reconnects, m.panics} {
		v.DeletePartialMatch(of)
	}
	m.state.DeletePartialMatch(of)
}
