package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/discover"
	"vmsbridge/cmd/cli"
)

// typed is a terminal in which somebody has typed lines.
func typed(t *testing.T, lines string) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = slave.Close(); _ = master.Close() })
	_, err = master.WriteString(lines)
	require.NoError(t, err)
	return slave
}

// Nobody who merely answers a search is told a password's digest: a person says yes for each
// device, or names them, or says --yes.
func TestDiscoverAsksWhomItMayTell(t *testing.T) {
	t.Setenv("VMSBRIDGE_CAMERA_PASSWORD", "s3cret")
	found := []discover.Device{{Host: netip.MustParseAddr("10.0.0.5"), Name: "Gate"},
		{Host: netip.MustParseAddr("10.0.0.66"), Name: "Evil\x1b[2J"}, {ID: "urn:uuid:7"}}
	all := discover.Credentials{User: "admin", Password: "s3cret"}
	none := discover.Credentials{}
	for name, c := range map[string]struct {
		command discoverCommand
		typed   string // "-" is no terminal
		want    []discover.Credentials
		code    int
		says    []string
	}{
		"a person": {discoverCommand{User: "admin"}, "y\nn\n\n", []discover.Credentials{all, none, none},
			0, []string{"10.0.0.5 Gate? [y/N]", "10.0.0.66 Evil?[2J?", "digest of the password"}},
		"nobody": {discoverCommand{User: "admin"}, "n\nn\nno\n",
			[]discover.Credentials{none, none, none}, 0, nil},
		"no terminal": {discoverCommand{User: "admin"}, "-", nil, exitUsage,
			[]string{"10.0.0.5 Gate", "10.0.0.66", "urn:uuid:7"}},
		"no terminal, --yes": {discoverCommand{User: "admin", Yes: true}, "-",
			[]discover.Credentials{all, all, all}, 0, []string{"10.0.0.66"}},
		"no terminal, by name": {discoverCommand{User: "admin", Hosts: []string{"a", "b", "c"}}, "-",
			[]discover.Credentials{all, all, all}, 0, nil},
		"nobody to be signed in": {discoverCommand{}, "-", []discover.Credentials{none, none, none}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var errs bytes.Buffer
			s := streams{in: bytes.NewReader(nil), out: &errs, err: &errs}
			if c.typed != "-" {
				s.in = typed(t, c.typed)
			}
			who, _, err := c.command.credentials(found, s)
			if c.code != 0 {
				e := (*cli.ExitError)(nil)
				require.ErrorAs(t, err, &e)
				require.Equal(t, c.code, e.Code)
				require.ErrorContains(t, err, "--yes")
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.want, who)
			for _, text := range c.says {
				require.Contains(t, errs.String(), text)
			}
			require.NotContains(t, errs.String(), "s3cret")
			require.NotContains(t, errs.String(), "\x1b")
		})
	}
}
