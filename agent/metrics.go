package agent

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/uplink/tunnel"
)

// metrics are the agent's own; each room it runs has its own beside them.
type metrics struct {
	pictures           *prometheus.CounterVec   // camera
	damaged            *prometheus.CounterVec   // camera
	unitsDropped       *prometheus.CounterVec   // camera
	decodeFailures     *prometheus.CounterVec   // camera
	spans              *prometheus.CounterVec   // camera, type
	stills             *prometheus.CounterVec   // camera, kind
	stillFailures      *prometheus.CounterVec   // camera
	restarts           *prometheus.CounterVec   // camera
	detect             *prometheus.HistogramVec // camera
	tamper             *prometheus.HistogramVec // camera
	tampered           *prometheus.GaugeVec     // camera
	withheld           *prometheus.CounterVec   // camera
	firstPictureMissed prometheus.Counter
	journalFailures    prometheus.Counter
	eventsLost         prometheus.Counter
}

// watchTunnel shows whether the tunnel to the service stands.
func (*metrics) watchTunnel(r prometheus.Registerer, d *tunnel.Dialer) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_agent_tunnel_up", Help: "1 while the tunnel to the service stands."}, func() float64 {
		if d.Up() {
			return 1
		}
		return 0
	}))
}

// watchSignIn shows whether the service lets the bridge in.
func (*metrics) watchSignIn(r prometheus.Registerer, l *link) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_agent_signed_in", Help: "0 while the service refuses the bridge's token or sign-in."}, func() float64 {
		if l.SignedIn() {
			return 1
		}
		return 0
	}))
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	perCamera := func(name, help string, more ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "vmsbridge_agent_" + name, Help: help}, append([]string{"camera"}, more...))
	}
	return &metrics{
		pictures:       perCamera("pictures_total", "Pictures looked at for motion."),
		damaged:        perCamera("pictures_damaged_total", "Pictures not looked at, because they depend on lost or damaged data."),
		unitsDropped:   perCamera("access_units_dropped_total", "Access units dropped before the decoder, because it was behind."),
		decodeFailures: perCamera("decode_failures_total", "Access units that could not be decoded."),
		spans:          perCamera("spans_total", "Spans that began.", "type"),
		stills:         perCamera("stills_total", "Stills stored.", "kind"),
		stillFailures:  perCamera("still_failures_total", "Stills that could not be made or stored."),
		restarts:       perCamera("pipeline_restarts_total", "Pipelines that ended with an error and were started again."),
		detect: f.NewHistogramVec(prometheus.HistogramOpts{Name: "vmsbridge_agent_detect_seconds", Help: "Time that the detector takes for a picture.",
			Buckets: prometheus.ExponentialBuckets(25e-6, 2, 12)}, []string{"camera"}),
		tamper: f.NewHistogramVec(prometheus.HistogramOpts{Name: "vmsbridge_agent_tamper_seconds", Help: "Time that the watch for tampering takes for a picture.",
			Buckets: prometheus.ExponentialBuckets(5e-6, 2, 12)}, []string{"camera"}),
		tampered: f.NewGaugeVec(prometheus.GaugeOpts{Name: "vmsbridge_agent_tampered", Help: "1 while the camera's view is covered, blinded, out of focus, turned away or frozen."},
			[]string{"camera"}),
		withheld:           perCamera("spans_withheld_total", "Spans of motion not reported, because the view was covered or blinded and one in the minute is enough."),
		firstPictureMissed: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_agent_first_pictures_missed_total", Help: "Spans whose first picture could not be kept as a still."}),
		journalFailures:    f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_agent_journal_failures_total", Help: "Writes that the journal refused; the event waits in memory."}),
		eventsLost:         f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_agent_events_lost_total", Help: "Events lost because the journal refused them until the stop, or for too long."}),
	}
}
