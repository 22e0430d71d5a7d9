package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
)

func TestAServiceElsewhereIsToldNoLoopbackAddress(t *testing.T) {
	for _, c := range []struct{ service, base, want string }{
		{"https://vms.example", "http://127.0.0.1:8480", ""},
		{"https://vms.example", "http://[::1]:8480", ""},
		{"https://vms.example", "http://localhost:8480", ""},
		{"https://vms.example", "http://10.0.0.2:8480", "http://10.0.0.2:8480"},
		{"http://127.0.0.1:8470", "http://127.0.0.1:8480", "http://127.0.0.1:8480"},
	} {
		a := &Agent{}
		a.live.Store(&configs.Config{Service: configs.Service{URL: c.service}})
		require.Equal(t, c.want, a.profile(c.base).Address, "%+v", c)
	}
}
