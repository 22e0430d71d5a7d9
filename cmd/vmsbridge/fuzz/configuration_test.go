package fuzz

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzConfiguration has "vmsbridge check" read a damaged YAML. It says what is wrong, in time, and
// never the secret in it.
func FuzzConfiguration(f *testing.F) {
	dir := needs(f)
	raw, err := os.ReadFile("../../../configs/vmsbridge.example.yaml")
	require.NoError(f, err)
	example := everything(string(raw))
	out, code := run(f, []string{secret}, "vmsbridge", "check", "--config",
		write(f, filepath.Join(dir, "example.yaml"), example))
	require.Zero(f, code, "the example itself: %s", out)
	texts := []string{example, "", "{", "cameras: [{id: a, url: rtsp://u:" + secret + "@h/x}]", "a: &a [*a]",
		"bridge: {id: b}\nservice: {url: http://h, token: " + secret + "}\n", "? [" + strings.Repeat("[", 1000),
		"--- !!binary x\n...\n---\n", "cameras: 5"}
	for i := range texts {
		f.Add([]byte{byte(i)})
	}
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		all.try(t, input, func(t *trial, in *tape) {
			text := texts[0]
			if in.sometimes(8) {
				text = in.one(texts)
			}
			for range 1 + in.below(4) {
				text = misspell(t, in, text)
			}
			path := write(t, filepath.Join(dir, "damaged.yaml"), text)
			out, code := run(t, []string{secret}, "vmsbridge", "check", "--config", path)
			ends(t, out, code, 0, 78)
		})
	})
}

// everything is the example with all that it has in comments, and a secret in place of every file
// of one.
func everything(text string) string {
	text = regexp.MustCompile(`(?m)^(\s*)# (mqtt:|webhooks:|file:|  \S.*:.*|    \S.*:.*|  - id: alarm.*)$`).ReplaceAllString(text, "$1$2")
	text = regexp.MustCompile(`(?m)^\s*ca_file: .*$`).ReplaceAllString(text, "") // there is none
	return regexp.MustCompile(`(token|password|secret)_file: \S+`).ReplaceAllString(text, "$1: "+secret)
}

// odd are values that a key of the configuration may not expect.
var odd = []string{"", "~", "[]", "{}", "[[]]", "- x", "-1", "0", "0.0", ".inf", ".nan", "1e400",
	"99999999999999999999", "1s", "-5m", "9999999h", "500GB", "-1%", "101%",
	"true", "\"\\x00\"", "'", "\"", "*nobody", "&a x", "!!binary aGk=", "!!set {x}", "!!int x", "|", ">-", "2026-01-01",
	"rtsp://", "rtsp://h:99999/x", "rtsp://[::1/x", "http://%zz",
	"mqtt://", "/", "../../x", "${NOBODY}", "${", "0.0.0.0:0", ":", "256.256.256.256/99", "[[0, 0], [1, 0]]",
	"[[0, 0], [2, 0], [1, 1]]", "[[.nan, 0], [1, 0], [1, 1]]", "é\xff"}

// misspell changes a line, or any place.
func misspell(t *trial, in *tape, text string) string {
	lines := strings.Split(text, "\n")
	at, other := in.below(len(lines)), in.below(len(lines))
	line := lines[at]
	key, _, isKey := strings.Cut(line, ": ")
	switch choice := in.below(8); {
	case choice < 3 && isKey:
		value := in.one(odd)
		if in.sometimes(3) {
			if _, value, _ = strings.Cut(lines[other], ": "); strings.Contains(value, secret) {
				value = "" // what stands where no secret belongs may be told
			}
		}
		lines[at] = key + ": " + value
	case choice == 3 && isKey:
		lines[at] = strings.Replace(line, key, key+string(in.some(3)), 1)
	case choice == 4:
		lines[at] = ""
	case choice == 5:
		lines[at] = line + "\n" + lines[other] // twice, or in the wrong place
	case choice == 6:
		lines[at] = strings.Repeat(" ", in.below(4)) + strings.TrimPrefix(line, "  ")
	default:
		t.Did("damage some bytes")
		return string(damage(in, []byte(text)))
	}
	t.Did("line %d is now %.300q", at+1, lines[at])
	return strings.Join(lines, "\n")
}
