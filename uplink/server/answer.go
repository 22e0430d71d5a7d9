package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/uplink/route"
)

// encoded is v in JSON. It is whole before the first byte leaves, so that an error cannot cut an
// answer in half.
func encoded(v any) (*bytes.Buffer, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	return &buf, enc.Encode(v)
}

// writeJSON writes v.
func writeJSON(w http.ResponseWriter, code int, v any) {
	buf, err := encoded(v)
	if err != nil {
		http.Error(w, `{"code":500,"status":"internal","message":"the answer could not be written","details":[]}`, http.StatusInternalServerError)
		return
	}
	send(w, code, buf)
}

func send(w http.ResponseWriter, code int, body *bytes.Buffer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(code)
	_, _ = w.Write(body.Bytes()) // the client may be gone, which is its own affair
}

// ok answers with v, packed if the client takes that and it is worth the work.
func (c *call) ok(v any) error {
	buf, err := encoded(v)
	if err == nil {
		c.okBody(buf)
	}
	return err
}

// okBody is ok with what is encoded already.
func (c *call) okBody(buf *bytes.Buffer) {
	c.w.Header().Add("Vary", "Accept-Encoding")
	if buf.Len() >= minPacked && route.TakesGzip(c.r) {
		c.w.Header().Set("Content-Encoding", "gzip")
		buf = packed(buf.Bytes())
	}
	send(c.w, http.StatusOK, buf)
}

// minPacked is from how many bytes on an answer is packed: below that it goes in one packet of the
// network either way.
const minPacked = 1400

var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func packed(text []byte) *bytes.Buffer {
	var out bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // memory does not fail
	_ = w.Close()
	return &out
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
