package api

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A bridge believes the names that a network gives this machine, and no other.
func TestOwnNames(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	host = strings.ToLower(host)
	short, _, _ := strings.Cut(host, ".")
	for _, name := range []string{host, short + ".local", short + ".fritz.box"} {
		require.True(t, ownName(name), name)
	}
	for _, name := range []string{"", "evil.example", short + ".evil.example", "x" + short, ".local", short +
		".local.evil.example"} {
		require.False(t, ownName(name), name)
	}
}
