package discover

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/discover/onviftest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answering is a camera's discovery on a real socket. It answers each probe with the file.
func answering(t *testing.T, conn *net.UDPConn, file string) {
	reply, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	onviftest.Answer(t, conn, string(reply))
}

func listen(t *testing.T) (*net.UDPConn, netip.AddrPort) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	return c, c.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestSearchAsksTargets(t *testing.T) {
	var targets []netip.AddrPort
	for _, file := range []string{"prefixes.xml", "defaultns.xml", "printer.xml"} {
		c, at := listen(t)
		answering(t, c, file)
		targets = append(targets, at)
	}
	// On no interface: cameras of other tests on this machine answer the multicast.
	found, err := Search(t.Context(), Options{Wait: 800 * time.Millisecond, Interfaces: []string{}, Targets: targets})
	require.NoError(t, err)
	byID := map[string]Device{}
	for _, d := range found {
		byID[d.ID] = d
	}
	require.Len(t, byID, 2, "the printer is no camera, and two answers are one camera: %v", found)
	one := byID["urn:uuid:4fd1a2c0-0000-1000-8000-c056e30a1b2c"]
	require.Equal(t, "Front Gate", one.Name)
	require.Equal(t, "IPC-2431", one.Hardware)
	require.Equal(t, "Yard/North", one.Location)
	require.Equal(t, []string{"http://127.0.0.1/onvif/device_service", "http://127.0.0.1:8000/onvif/device_service"},
		one.Addresses,
		"the address of a network that the camera is not in is brought to where it answers")
	require.Equal(t, "C210", byID["urn:uuid:camera-1"].Hardware)
}

// The multicast group is asked on every interface that can.
func TestSearchMulticast(t *testing.T) {
	all, err := net.Interfaces()
	require.NoError(t, err)
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagMulticast == 0 {
			continue
		}
		c, err := net.ListenMulticastUDP("udp4", &i, net.UDPAddrFromAddrPort(group4))
		if err != nil {
			continue
		}
		answering(t, c, "prefixes.xml")
		found, err := Search(t.Context(), Options{Wait: time.Second, Interfaces: []string{i.Name}})
		require.NoError(t, err)
		require.NotEmpty(t, found)
		return
	}
	t.Skip("no interface of this machine can multicast: run it where one is up")
}

func TestSearchOnAnInterfaceThatIsNotThere(t *testing.T) {
	_, err := Search(t.Context(), Options{Interfaces: []string{"nosuch0"}})
	require.ErrorContains(t, err, "nosuch0")
}

func FuzzParseMatches(f *testing.F) {
	files, err := filepath.Glob("testdata/*.xml")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Add(probe("x", ""))
	from := netip.MustParseAddr("10.0.0.5")
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, d := range parseMatches(message, from) {
			require.NotEmpty(t, d.Addresses)
			require.LessOrEqual(t, len(d.Addresses), maxAddresses)
			for _, a := range d.Addresses {
				require.True(t, strings.HasPrefix(a, "http"), a)
				require.Contains(t, a, "10.0.0.5", "no answer leads anywhere else than to who gave it")
			}
			require.NotContains(t, d.Name+d.Hardware+d.Location+d.ID, "\x1b")
			require.NotContains(t, d.Name+d.Hardware+d.Location+d.ID, "\n")
		}
	})
}
