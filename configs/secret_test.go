package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// Nothing that prints a configuration prints a secret, however deep it lies and whether or not the
// field is exported.
func TestSecretIsNeverPrinted(t *testing.T) {
	s := NewSecret(planted)
	holder := struct {
		Public  Secret
		private Secret
		Nested  []Camera
	}{s, s, []Camera{{Password: s}}}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", &s)
		fmt.Fprintf(&out, verb+"\n", holder)
		fmt.Fprintf(&out, verb+"\n", []any{s, holder})
	}
	for _, v := range []any{s, holder, map[string]Secret{"k": s}} {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(b)
		b, err = yaml.Dump(v)
		require.NoError(t, err)
		out.Write(b)
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("m", "secret", s, "holder", holder, "pointer", &s, slog.Group("g", "s", s))
	}
	all := out.String() + log.String()
	require.NotContains(t, all, planted)
	require.NotContains(t, strings.ToLower(all), fmt.Sprintf("%x", planted))
	require.Contains(t, all, "***")
	require.Equal(t, planted, s.Reveal())
	require.Equal(t, "", fmt.Sprint(Secret{}))
	require.Equal(t, holder.private, s)
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]Size{
		"0": 0, "17": 17, "17B": 17, "500MB": 500e6, "4GiB": 4 << 30, "4 gib": 4 << 30, "1.5KiB": 1536, "1kB": 1000,
		"2TB": 2e12,
	} {
		got, err := ParseSize(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for in, want := range map[string]string{
		"": "unit", "GiB": "unit", "4G": "unit", "4 giga": "unit", "-1": "negative", "-1.5GiB": "negative",
		"0x10":                "unit",
		"9223372036854775808": "too large", "9000000TiB": "too large", "1e30": "too large", "NaN": "unit",
		"Inf": "too large",
	} {
		_, err := ParseSize(in)
		require.ErrorContains(t, err, want, "%q", in)
	}
}

func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Size(rapid.Int64Min(0).Draw(t, "bytes"))
		back, err := ParseSize(s.String())
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
	require.Equal(t, "4GiB", Size(4<<30).String())
	require.Equal(t, "500MB", Size(500e6).String())
	require.Equal(t, "0B", Size(0).String())
}

func TestClosest(t *testing.T) {
	known := []string{"id", "name", "password", "password_file", "preview_url", "url"}
	for word, want := range map[string]string{
		"ulr": "url", "URL": "url", "passwrod": "password", "previewUrl": "preview_url",
		"password-file": "password_file", "nmae": "name",
	} {
		require.Equal(t, want, closest(word, known), word)
	}
	require.Empty(t, closest("zebra", known))
	require.Empty(t, closest(strings.Repeat("x", 1<<16), known))
}

// everyKey lists the keys of all structs of the configuration.
func everyKey() []string {
	keys := map[string]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		switch {
		case t == reflect.TypeFor[Secret]():
		case t.Kind() == reflect.Slice:
			walk(t.Elem())
		case t.Kind() == reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				if key == "-" {
					continue
				}
				if option != "inline" {
					keys[key] = true
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Config]())
	var all []string
	for k := range keys {
		all = append(all, k)
	}
	return all
}
