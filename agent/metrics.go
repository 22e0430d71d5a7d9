package agent

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/uplink/tunnel"
)

// metrics are the agent's own; each room it runs has its own beside them.
type metrics struct {
	restarts *prometheus.CounterVec // camera
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
	return &metrics{
		restarts: promauto.With(r).NewCounterVec(prometheus.CounterOpts{Name: "vmsbridge_agent_pipeline_restarts_total",
			Help: "Pipelines that ended with an error and were started again."}, []string{"camera"}),
	}
}
