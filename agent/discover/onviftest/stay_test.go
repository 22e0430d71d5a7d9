package onviftest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStay is a camera for scripts/trial: it answers searches, and says that its stream is
// at the address that VMSBRIDGE_ONVIF_STREAM names, until it is ended.
func TestStay(t *testing.T) {
	stream := os.Getenv("VMSBRIDGE_ONVIF_STREAM")
	if stream == "" {
		t.Skip("no stream is named")
	}
	cam := New(t, 2)
	cam.Answers["GetStreamUri"] = SOAP("<tr2:GetStreamUriResponse><tr2:Uri>" + stream +
		"</tr2:Uri></tr2:GetStreamUriResponse>")
	host, ok := cam.Everywhere(t, "Gate", "C-1")
	require.True(t, ok, "no network interface can multicast")
	t.Log("a camera answers at", host)
	<-t.Context().Done()
}
