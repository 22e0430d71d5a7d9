package configs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A bridge whose file asks for the protocol that it no longer speaks starts all the same, and says
// so.
func TestMQTT311IsTakenForFive(t *testing.T) {
	cfg, err := Parse("x.yaml", []byte("mqtt: {url: 'mqtt://10.0.0.3', protocol: 3.1.1}\n"))
	require.NoError(t, err)
	require.Contains(t, cfg.Warnings.Error(), "MQTT 5 only")
}
