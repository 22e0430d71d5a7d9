package api

import (
	"encoding/json"
	"net/http"
)

// oneObject reads a request's body into v, and reports whether it is one JSON object of known keys
// and at most so many bytes.
func oneObject(r *http.Request, most int64, v any) bool {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, most))
	d.DisallowUnknownFields()
	return d.Decode(v) == nil && !d.More()
}
