package pipeline

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/configs"
	"vmsbridge/motion/rule"
)

// Metrics are those of all cameras' pipelines.
type Metrics struct {
	pictures           *prometheus.CounterVec   // camera
	damaged            *prometheus.CounterVec   // camera
	unitsDropped       *prometheus.CounterVec   // camera
	unitsSkipped       *prometheus.CounterVec   // camera
	unitsUndecoded     *prometheus.CounterVec   // camera
	decodesAll         *prometheus.GaugeVec     // camera, reason
	decodeFailures     *prometheus.CounterVec   // camera
	spans              *prometheus.CounterVec   // camera, type
	stills             *prometheus.CounterVec   // camera, kind
	stillFailures      *prometheus.CounterVec   // camera
	detect             *prometheus.HistogramVec // camera
	tamper             *prometheus.HistogramVec // camera
	tampered           *prometheus.GaugeVec     // camera
	crossings          *prometheus.CounterVec   // camera, line, direction
	withheld           *prometheus.CounterVec   // camera
	firstPictureMissed prometheus.Counter
}

// NewMetrics registers them; once for a registerer.
func NewMetrics(r prometheus.Registerer) *Metrics {
	f := promauto.With(r)
	perCamera := func(name, help string, more ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "vmsbridge_agent_" + name, Help: help},
			append([]string{"camera"}, more...))
	}
	return &Metrics{
		pictures: perCamera("pictures_total", "Pictures looked at for motion."),
		damaged: perCamera("pictures_damaged_total",
			"Pictures not looked at, because they depend on lost or damaged data."),
		unitsDropped: perCamera("access_units_dropped_total",
			"Access units dropped before the decoder, because it was behind."),
		unitsSkipped: perCamera("access_units_skipped_total",
			"Access units not decoded, because the camera takes more than its share of decoding time."),
		unitsUndecoded: perCamera("access_units_undecoded_total",
			"Access units not decoded, because they show that nothing moves."),
		decodesAll: f.NewGaugeVec(prometheus.GaugeOpts{Name: "vmsbridge_agent_decodes_all",
			Help: "1 for the reason why all access units of a camera are decoded; none: those in which nothing " +
				"moves are not."}, []string{"camera", "reason"}),
		decodeFailures: perCamera("decode_failures_total", "Access units that could not be decoded."),
		spans:          perCamera("spans_total", "Spans that began.", "type"),
		crossings: perCamera("line_crossings_total", "Things that crossed a line of the camera, by direction.", "line",
			"direction"),
		stills:        perCamera("stills_total", "Stills stored.", "kind"),
		stillFailures: perCamera("still_failures_total", "Stills that could not be made or stored."),
		detect: f.NewHistogramVec(prometheus.HistogramOpts{Name: "vmsbridge_agent_detect_seconds",
			Help:    "Time that the detector takes for a picture.",
			Buckets: prometheus.ExponentialBuckets(25e-6, 2, 12)}, []string{"camera"}),
		tamper: f.NewHistogramVec(prometheus.HistogramOpts{Name: "vmsbridge_agent_tamper_seconds",
			Help:    "Time that the watch for tampering takes for a picture.",
			Buckets: prometheus.ExponentialBuckets(5e-6, 2, 12)}, []string{"camera"}),
		tampered: f.NewGaugeVec(prometheus.GaugeOpts{Name: "vmsbridge_agent_tampered",
			Help: "1 while the camera's view is covered, blinded, out of focus, turned away or frozen."},
			[]string{"camera"}),
		withheld: perCamera("spans_withheld_total",
			"Spans of motion not reported, because the view was covered or blinded and one in the minute is enough."),
		firstPictureMissed: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_agent_first_pictures_missed_total",
			Help: "Spans whose first picture could not be kept as a still."}),
	}
}

// counters are those of a camera that come with each picture: looking them up by its id costs more
// than counting.
type counters struct {
	pictures       prometheus.Counter
	detect, tamper prometheus.Observer
}

func (m *Metrics) of(camera string) *counters {
	return &counters{pictures: m.pictures.WithLabelValues(camera), detect: m.detect.WithLabelValues(camera),
		tamper: m.tamper.WithLabelValues(camera)}
}

// begin gives a camera's series a value before anything happens, so that an alert sees the first
// step.
func (m *Metrics) begin(c configs.Camera) {
	camera := c.ID
	for _, l := range c.Motion.Lines {
		for _, way := range []rule.Direction{rule.AToB, rule.BToA} {
			if l.Direction == string(rule.Any) || l.Direction == string(way) {
				m.crossings.WithLabelValues(camera, l.ID, string(way))
			}
		}
	}
	for _, v := range []*prometheus.CounterVec{m.pictures, m.damaged, m.unitsDropped, m.unitsSkipped, m.unitsUndecoded,
		m.decodeFailures,
		m.stillFailures, m.withheld} {
		v.WithLabelValues(camera)
	}
	m.tampered.WithLabelValues(camera)
}

// Forget drops the series of a camera that is no longer watched.
func (m *Metrics) Forget(camera string) {
	of := prometheus.Labels{"camera": camera}
	for _, v := range []interface{ DeletePartialMatch(prometheus.Labels) int }{m.pictures, m.damaged, m.unitsDropped,
		m.unitsSkipped, m.unitsUndecoded, m.decodesAll, m.decodeFailures, m.spans, m.crossings, m.stills,
		m.stillFailures, m.detect, m.tamper, m.tampered, m.withheld} {
		v.DeletePartialMatch(of)
	}
}
