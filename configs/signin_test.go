package configs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bridge's token stands in the file, in a file of its own, or in the environment; or there is a
// sign-in in its place.
func TestWaysToBeLetIn(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("from-file\n"), 0o600))
	for _, c := range []struct{ service, env, token, session, problem string }{
		{"token: from-yaml", "", "from-yaml", "", ""},
		{"token_file: token", "", "from-file", "", ""},
		{"", "from-env\n", "from-env", "", ""},
		{"token: from-yaml", "from-env", "from-yaml", "", ""},
		{"session_file: s.session", "from-env", "", filepath.Join(dir, "s.session"), ""},
		{"", "", "", "", "token_file"},
		{"", "two\nlines", "", "", "line break"},
		{"{token: x, session_file: y}", "", "", "", "write only one of them"},
	} {
		t.Setenv(TokenVariable, c.env)
		inner := c.service
		if len(inner) > 0 && inner[0] == '{' {
			inner = inner[1 : len(inner)-1]
		}
		if inner != "" {
			inner = ", " + inner
		}
		file := filepath.Join(dir, "b.yaml")
		require.NoError(t, os.WriteFile(file, []byte("bridge: {id: b, account: a, data: d}\nservice: {url: "+
			"\"https://vms.example\""+inner+"}\ncameras: [{id: c, url: \"rtsp://h/\"}]\n"), 0o600))
		cfg, err := Load(file)
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, "%+v", c)
			continue
		}
		require.NoError(t, err, "%+v", c)
		require.Equal(t, c.token, cfg.Service.Token.Reveal(), "%+v", c)
		require.Equal(t, c.session, cfg.Service.SessionFile, "%+v", c)
		require.True(t, cfg.Service.Tunnel)
	}
}
