package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// writeJSON writes v. It is encoded before the first byte leaves, so that an error cannot cut an answer in half.
func writeJSON(w http.ResponseWriter, code int, v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		http.Error(w, `{"code":500,"status":"internal","message":"the answer could not be written","details":[]}`, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(code)
	_, _ = w.Write(buf.Bytes()) // the client may be gone, which is its own affair
}

func (c *call) ok(v any) error {
	writeJSON(c.w, http.StatusOK, v)
	return nil
}

// metrics counts requests by endpoint and answer.
type metrics struct {
	requests *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	return &metrics{promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "vmsbridge_server_requests_total",
		Help: "Requests to the interface by endpoint and status code; a handled request counts as 200.",
	}, []string{"endpoint", "code"})}
}

func (m *metrics) count(endpoint string, code int) {
	m.requests.WithLabelValues(endpoint, strconv.Itoa(code)).Inc()
}
