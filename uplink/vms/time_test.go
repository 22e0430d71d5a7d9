package vms

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseTime(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-21T07:10:00.123+00:00":       "2026-11-21T07:10:00.123+00:00",
		"2026-11-21T07:10:00.123 00:00":       "2026-11-21T07:10:00.123+00:00", // a plus that a URL turned into a space
		"2026-11-21T07:10:00.123Z":            "2026-11-21T07:10:00.123+00:00",
		"2026-11-21T07:10:00Z":                "2026-11-21T07:10:00.000+00:00",
		"2026-11-21T07:10:00.1Z":              "2026-11-21T07:10:00.100+00:00",
		"2026-11-21T07:10:00.123999999Z":      "2026-11-21T07:10:00.123+00:00",
		"2026-11-21T08:10:00.123+01:00":       "2026-11-21T07:10:00.123+00:00",
		"2026-11-21T00:10:00.123-0700":        "2026-11-21T07:10:00.123+00:00",
		"2026-11-21T12:55:00.123 05:45":       "2026-11-21T07:10:00.123+00:00",
		"2024-02-29T23:59:59.999+00:00":       "2024-02-29T23:59:59.999+00:00",
		"0001-01-01T00:00:00Z":                "0001-01-01T00:00:00.000+00:00",
		"9999-12-31T23:59:59.999Z":            "9999-12-31T23:59:59.999+00:00",
		"1969-12-31T23:59:59.999Z":            "1969-12-31T23:59:59.999+00:00",
		"2026-11-21T07:10:00.123456789+00:00": "2026-11-21T07:10:00.123+00:00",
	} {
		got, err := ParseTime(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got.String(), in)
	}
	for _, in := range []string{"", "now", "2026-11-21", "2026-11-21T07:10:00", "2026-11-21 07:10:00Z", "2026-11-21T07:10Z", "1763709000", "20261121071000.000",
		"2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T07:10:00.123+99:99", "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59-01:00", "2026-11-21T07:10:00Z\n", strings.Repeat("9", 1000)} {
		_, err := ParseTime(in)
		require.Error(t, err, "%q", in)
		require.Less(t, len(err.Error()), 200)
	}
}

func TestTimeJSON(t *testing.T) {
	var ts Time
	require.NoError(t, json.Unmarshal([]byte(`"2026-11-21T08:10:00.1239+01:00"`), &ts))
	out, err := json.Marshal(ts)
	require.NoError(t, err)
	require.JSONEq(t, `"2026-11-21T07:10:00.123+00:00"`, string(out))
	for _, bad := range []string{"1763709000", "{}", `"x"`, "true"} {
		require.Error(t, json.Unmarshal([]byte(bad), &ts), bad)
	}
}

// Written times read back equal, and their strings sort as they do.
func TestTimeRoundTrip(t *testing.T) {
	any := rapid.Int64Range(time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC).UnixMilli())
	rapid.Check(t, func(t *rapid.T) {
		a, b := At(time.UnixMilli(any.Draw(t, "a"))), At(time.UnixMilli(any.Draw(t, "b")))
		got, err := ParseTime(a.String())
		if err != nil || !got.Equal(a.Time) {
			t.Fatalf("%s reads as %v, %v", a, got, err)
		}
		if strings.Compare(a.String(), b.String()) != a.Compare(b.Time) {
			t.Fatalf("%s and %s sort otherwise than their times", a, b)
		}
	})
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026-11-21T07:10:00.123+00:00", "2026-11-21T07:10:00.123 00:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", "2026-11-21T07:10:00,5Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTime(s)
		if err != nil {
			return
		}
		again, err := ParseTime(got.String())
		if err != nil || !again.Equal(got.Time) || len(got.String()) != len("2026-11-21T07:10:00.123+00:00") {
			t.Fatalf("%q reads as %q, which reads as %v, %v", s, got, again, err)
		}
	})
}
