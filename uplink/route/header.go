package route

import (
	"net/http"
	"strconv"
	"strings"
)

// List is the list that a header holds, which may stand on several lines (RFC 9110 §5.3).
func List(r *http.Request, header string) string { return strings.Join(r.Header.Values(header), ",") }

// Known reports whether the client has what an entity tag names: If-None-Match holds it, weak or
// not, or the star, which stands for any (RFC 9110 §13.1.2).
func Known(r *http.Request, etag string) bool {
	for one := range strings.SplitSeq(List(r, "If-None-Match"), ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == etag || one == "*" {
			return true
		}
	}
	return false
}

// TakesGzip reports whether Accept-Encoding names gzip and does not refuse it (RFC 9110 §12.5.3).
func TakesGzip(r *http.Request) bool {
	takes := false
	for part := range strings.SplitSeq(List(r, "Accept-Encoding"), ",") {
		coding, rest, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(rest), "q="), 64)
		if strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip") {
			return err != nil || q > 0
		}
		takes = takes || coding == "*" && (err != nil || q > 0)
	}
	return takes
}
