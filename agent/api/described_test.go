package api

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// What people say of a camera at the bridge is shown instead of the configuration's name, and is
// there after a restart.
func TestACameraIsDescribedAtTheBridge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	open := func() (cameras, *journal.Journal) {
		j, err := journal.Open(path, journal.Options{})
		require.NoError(t, err)
		o := bridgeOf(t.TempDir(), t.Output())
		o.said = newDescribed(j)
		return cameras{o}, j
	}
	c, j := open()
	name, tags := "Front door", []string{"outside"}
	by := identity.Principal{Holder: "user:1"}
	require.NoError(t, c.Describe(t.Context(), by, "acc-1", "cam-1", vms.CameraChange{Name: &name, Tags: &tags}))
	require.Error(t, c.Describe(t.Context(), by, "acc-1", "nobody", vms.CameraChange{Name: &name}))
	require.NoError(t, j.Close())
	c, j = open()
	cam, ok := c.CameraOf("acc-1", "cam-1")
	require.True(t, ok)
	require.Equal(t, "Front door", cam.Name)
	require.Equal(t, tags, cam.Tags)
	list, err := devices(c).Devices(t.Context(), "acc-1")
	require.NoError(t, err)
	require.Equal(t, "Front door", list[1].Name)
	empty := ""
	require.NoError(t, c.Describe(t.Context(), by, "acc-1", "cam-1", vms.CameraChange{Name: &empty}))
	cam, _ = c.CameraOf("acc-1", "cam-1")
	require.Equal(t, "Door", cam.Name)
	require.Equal(t, tags, cam.Tags)
	b, ids, ok := c.BridgeRecord("acc-1", "bridge-1")
	require.True(t, ok)
	require.Equal(t, []string{"cam-1"}, ids)
	require.Equal(t, "Front gate", b.Name)
	_, _, ok = c.BridgeRecord("acc-1", "other")
	require.False(t, ok)
	require.NoError(t, j.Close())
}
