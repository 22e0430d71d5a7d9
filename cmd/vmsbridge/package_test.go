package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
)

// What a package ships is what the program says of itself: every command is in the manual page and
// can be completed.
func TestWhatPackagesShip(t *testing.T) {
	printed := func(args ...string) string {
		var out, errs bytes.Buffer
		require.Zero(t,
			program(t.Context(), append([]string{"package"}, args...), streams{bytes.NewReader(nil), &out, &errs}),
			"%s", errs.String())
		return out.String()
	}
	man, unit := printed("man", "--release", "1.2.3", "--date", "2026-11-21"), printed("unit")
	bash := do(t, "completion", "bash").out
	for _, section := range []string{"EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"} {
		require.Contains(t, man, "\n.SH "+section+"\n")
	}
	require.Contains(t, man, "\n.B VMSBRIDGE_CONFIG\nStands for \\-\\-config.\n")

	// The page of the YAML is made of the reference, with every key of it.
	reference, err := os.ReadFile("../../configs/REFERENCE.md")
	require.NoError(t, err)
	keys := doWith(t, t.Context(), string(reference), "package", "keys")
	require.Zero(t, keys.code, keys.err)
	require.Equal(t, strings.Count(string(reference), "\n| `"), strings.Count(keys.out, "\n.TP\n\\fB"))
	require.Contains(t, keys.out, `.TP
\fBcameras[].url\fR (text)`)
	require.Contains(t, keys.out, "Times carry a unit")
	require.Equal(t, exitFailed, do(t, "package", "keys").code, "without a reference")

	require.Contains(t, man, `"2026-11-21" "vmsbridge 1.2.3"`)
	for _, command := range []string{"run", "check", "discover", "service install", "queue retry", "version"} {
		require.Contains(t, man, "\n.SS "+command)
		require.Contains(t, bash, `" `+command+`")`)
	}
	require.NotContains(t, man, ".SS package", "it is hidden")
	require.Contains(t, unit, "\nExecStart=/usr/bin/vmsbridge run --config /etc/vmsbridge/vmsbridge.yaml\n")
	require.Contains(t, unit, "\nUser=vmsbridge\n")
	require.NotContains(t, unit, "{{")
	require.Contains(t, unit, "\nReadWritePaths=-/etc/vmsbridge\n", "its page writes there")
	require.Equal(t, string(configs.First("", "")), printed("first"))
	var errs bytes.Buffer
	require.Equal(t, exitUsage,
		program(t.Context(), []string{"package", "rpm"}, streams{bytes.NewReader(nil), &errs, &errs}))
}
