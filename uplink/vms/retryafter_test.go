package vms_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(t time.Time) string { return t.Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		value, date, age string
		want             time.Duration
	}{
		"nothing":                {"", "", "", 0},
		"seconds":                {" 5 ", "", "", 5 * time.Second},
		"too many":               {"99999", "", "", time.Hour},
		"beyond all numbers":     {"99999999999999999999", "", "", time.Hour},
		"negative":               {"-5", "", "", 0},
		"a fraction":             {"1.5", "", "", 0},
		"words":                  {"soon", "", "", 0},
		"a date":                 {at(now.Add(time.Minute)), "", "", time.Minute},
		"a date of another form": {"Saturday, 21-Nov-26 12:01:00 GMT", "", "", time.Minute},
		"a date that is over":    {at(now.Add(-time.Minute)), "", "", 0},
		"a date far off":         {at(now.AddDate(1, 0, 0)), "", "", time.Hour},
		"a service an hour fast": {at(now.Add(61 * time.Minute)), at(now.Add(time.Hour)), "", time.Minute},
		"a service a day slow": {at(now.Add(time.Minute).AddDate(0, 0, -1)), at(now.AddDate(0, 0, -1)), "",
			time.Minute},
		"a date that a cache kept":         {at(now.Add(time.Minute)), at(now.Add(-time.Hour)), "3600", time.Minute},
		"a clock here that stands in 1970": {at(now.Add(time.Minute)), at(now), "", time.Minute},
	} {
		here := now
		if name == "a clock here that stands in 1970" {
			here = time.Unix(0, 0)
		}
		h := http.Header{"Retry-After": {c.value}}
		if c.date != "" {
			h.Set("Date", c.date)
		}
		if c.age != "" {
			h.Set("Age", c.age)
		}
		require.Equal(t, c.want, vms.RetryAfter(h, here, time.Hour), name)
	}
}
