package vms

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter is how long an answer asks to wait, between 0 and most; 0 if it does not say. It says
// so in seconds, or by a date (RFC 9110 §10.2.3), which is one of the clock of whoever answered:
// its Date shows that clock, and now stands in where there is none, or an old one out of a cache.
func RetryAfter(h http.Header, now time.Time, most time.Duration) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(v, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(n, uint64(most/time.Second))) * time.Second
	}
	until, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil && h.Get("Age") == "" {
		now = date
	}
	return min(max(until.Sub(now), 0), most)
}
