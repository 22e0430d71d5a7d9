package fuzz

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/tunnel"
)

const subprotocol = tunnel.Subprotocol

func subprotocols(r *http.Request) []string { return r.Header.Values("Sec-WebSocket-Protocol") }

func makeFolder(path string) error { return os.MkdirAll(path, 0o700) }

// register makes the bridge known that opens tunnels.
func register(f *testing.F, c *cloud) {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, c.base+"/api/v3.0/bridges:register",
		strings.NewReader(`{"id":"bridge-9","name":"x","imageToken":"0123456789abcdef","cameras":[]}`))
	require.NoError(f, err)
	r.Header.Set("Authorization", "Bearer "+c.bridge)
	res, err := http.DefaultClient.Do(r)
	require.NoError(f, err)
	require.NoError(f, res.Body.Close())
	require.Equal(f, http.StatusOK, res.StatusCode)
}
