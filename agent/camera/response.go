package camera

import (
	"strings"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/headers"
)

// onResponse reads what a response tells beside what the client reads, and puts right what it could
// not read.
func (s *session) onResponse(res *base.Response) {
	s.guarded(func() { s.readResponse(res) })
}

func (s *session) readResponse(res *base.Response) {
	if res.StatusCode >= 300 {
		s.status.Store(int64(res.StatusCode))
	}
	if v := res.Header["Server"]; len(v) == 1 {
		name := s.t.clean(v[0])
		s.server.Store(&name)
	}
	if h := res.Header["Transport"]; len(h) == 1 {
		res.Header["Transport"] = base.HeaderValue{tidyTransport(h[0])}
	}
	s.signIn.Response(res)
	if res.StatusCode == base.StatusOK && s.offers.Load() == nil && len(res.Body) > 0 && isSDP(res.Header) {
		body, offers := readOffers(res.Body)
		s.unread.Store(body == nil)
		s.offers.Store(&offers)
		res.Body = body
	}
}

func isSDP(h base.Header) bool {
	ct := h["Content-Type"]
	return len(ct) == 1 && strings.HasPrefix(strings.ToLower(strings.TrimSpace(ct[0])), "application/sdp")
}

// tidyTransport leaves a Transport header alone unless the library cannot read it with a source
// that is no address: many cameras put a host name or nothing there.
func tidyTransport(v string) string {
	var th headers.Transport
	if th.Unmarshal(base.HeaderValue{v}) == nil {
		return v
	}
	var keep []string
	for part := range strings.SplitSeq(v, ";") {
		if name, _, _ := strings.Cut(strings.TrimSpace(part), "="); strings.EqualFold(name, "source") ||
			strings.EqualFold(name, "ssrc") {
			continue
		}
		keep = append(keep, part)
	}
	return strings.Join(keep, ";")
}
