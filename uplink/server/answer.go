package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
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
	if buf.Len() >= minPacked && takesGzip(listOf(c.r, "Accept-Encoding")) {
		c.w.Header().Set("Content-Encoding", "gzip")
		buf = packed(buf.Bytes())
	}
	send(c.w, http.StatusOK, buf)
}

// listOf is the list that a header holds, which may stand on several lines (RFC 9110 §5.3).
func listOf(r *http.Request, header string) string { return strings.Join(r.Header.Values(header), ",") }

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

// takesGzip reports whether an Accept-Encoding names gzip and does not refuse it (RFC 9110
// §12.5.3).
func takesGzip(header string) bool {
	takes := false
	for part := range strings.SplitSeq(header, ",") {
		coding, rest, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(rest), "q="), 64)
		if strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip") {
			return err != nil || q > 0
		}
		takes = takes || coding == "*" && (err != nil || q > 0)
	}
	return takes
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
