package codec

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics of a pool.
type metrics struct {
	started  prometheus.Counter
	running  prometheus.Gauge
	deaths   *prometheus.CounterVec // reason
	alone    prometheus.Counter
	lines    prometheus.Counter
	seconds  *prometheus.HistogramVec // format
	pictures *prometheus.CounterVec   // format
	failures *prometheus.CounterVec   // format
	spent    *prometheus.CounterVec   // camera
	stage    *prometheus.GaugeVec     // camera
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	name := func(s string) string { return "vmsbridge_codec_" + s }
	return &metrics{
		started: f.NewCounter(prometheus.CounterOpts{Name: name("processes_started_total"),
			Help: "Decoder processes started."}),
		running: f.NewGauge(prometheus.GaugeOpts{Name: name("processes"), Help: "Decoder processes that run."}),
		deaths: f.NewCounterVec(prometheus.CounterOpts{Name: name("process_deaths_total"),
			Help: "Decoder processes that ended unasked: crash, killed, hang, protocol, forbidden for those that did " +
				"what only an attack does, or start for those that never came to life."}, []string{"reason"}),
		alone: f.NewCounter(prometheus.CounterOpts{Name: name("cameras_isolated_total"),
			Help: "Cameras that got a decoder process of their own because they broke a shared one twice."}),
		lines: f.NewCounter(prometheus.CounterOpts{Name: name("stderr_lines_total"),
			Help: "Lines that decoder processes wrote to their standard error."}),
		seconds: f.NewHistogramVec(prometheus.HistogramOpts{Name: name("decode_seconds"),
			Help:    "Time from access unit to its pictures, waiting for the process included.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5}}, []string{"format"}),
		pictures: f.NewCounterVec(prometheus.CounterOpts{Name: name("pictures_total"), Help: "Pictures decoded."},
			[]string{"format"}),
		failures: f.NewCounterVec(prometheus.CounterOpts{Name: name("decode_failures_total"),
			Help: "Access units that gave an error."}, []string{"format"}),
		spent: f.NewCounterVec(prometheus.CounterOpts{Name: name("camera_seconds_total"),
			Help: "Processor time that decoding has taken."}, []string{"camera"}),
		stage: f.NewGaugeVec(prometheus.GaugeOpts{Name: name("camera_stage"),
			Help: "What was done about a camera's cost: 0 nothing, 1 it has a decoder process of its own, 2 only its " +
				"keyframes are decoded."}, []string{"camera"}),
	}
}

// decoded are those of a format that come with each access unit: looking them up costs more than
// counting.
type decoded struct {
	seconds            prometheus.Observer
	pictures, failures prometheus.Counter
}

func (m *metrics) of(f Format) *decoded {
	switch f {
	case H264, H265, MJPEG:
	default:
		f = "other" // a label must not grow by what comes from outside
	}
	return &decoded{seconds: m.seconds.WithLabelValues(string(f)), pictures: m.pictures.WithLabelValues(string(f)),
		failures: m.failures.WithLabelValues(string(f))}
}

func (d *decoded) note(took time.Duration, pictures int, err error) {
	d.seconds.Observe(took.Seconds())
	d.pictures.Add(float64(pictures))
	if err != nil {
		d.failures.Inc()
	}
}
