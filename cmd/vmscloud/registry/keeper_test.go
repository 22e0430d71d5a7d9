package registry

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// A camera stays with the bridge that has it: another credential gets it only once that one has
// ended, the bridge no longer names it, or the operator released it.
func TestACameraIsItsBridges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	r, err := Open(path)
	require.NoError(t, err)
	stands := map[string]bool{"token:a": true, "token:b": true}
	holds := func(holder string) (string, bool, error) { return "name of " + holder, stands[holder], nil }
	r.Holds = holds
	register := func(holder, bridge string, cameras ...string) error {
		p := principal("acc-1")
		p.Holder = holder
		reg := vms.Registration{ID: bridge}
		for _, c := range cameras {
			reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: c})
		}
		return r.Register(t.Context(), p, reg)
	}
	at := func(want ...string) { t.Helper(); require.Equal(t, want, cameraIDs(t, r, "acc-1")) }
	refused := func(err error, words ...string) {
		t.Helper()
		var e *vms.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 409, e.Code)
		for _, w := range words {
			require.Contains(t, e.Message, w)
		}
	}
	require.NoError(t, register("token:a", "bridge-a", "gate", "yard", "door"))
	require.NoError(t, register("token:b", "bridge-b", "hall"))
	refused(register("token:b", "bridge-b", "hall", "yard"), "yard", "bridge-a", "name of token:a",
		"vmscloud camera release yard")
	at("door@bridge-a", "gate@bridge-a", "hall@bridge-b", "yard@bridge-a")

	// The operator releases one. Its bridge keeps it until the other one comes, also over a
	// restart.
	require.ErrorIs(t, r.ReleaseCamera("", "nothing"), identity.ErrNotFound)
	require.ErrorIs(t, r.ReleaseCamera("", "bridge-a"), identity.ErrNotFound)
	require.NoError(t, r.ReleaseCamera("", "yard"))
	require.NoError(t, register("token:a", "bridge-a", "gate", "yard", "door"))
	require.NoError(t, r.Close())
	r, err = Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	r.Holds = holds
	at("door@bridge-a", "gate@bridge-a", "hall@bridge-b", "yard@bridge-a")
	require.NoError(t, register("token:b", "bridge-b", "hall", "yard"))
	at("door@bridge-a", "gate@bridge-a", "hall@bridge-b", "yard@bridge-b")
	refused(register("token:a", "bridge-a", "gate", "yard", "door"), "yard")
	require.NoError(t, register("token:a", "bridge-a", "gate", "door"))

	// A bridge that no longer names it lets it go, and so does one whose credential has ended; a
	// credential moves what it has itself.
	require.NoError(t, register("token:b", "bridge-b", "hall"))
	require.NoError(t, register("token:a", "bridge-a2", "yard", "gate"))
	require.NoError(t, register("token:a", "bridge-a", "door"))
	at("door@bridge-a", "gate@bridge-a2", "hall@bridge-b", "yard@bridge-a2")
	stands["token:b"] = false
	require.NoError(t, register("token:a", "bridge-a", "door", "hall"))
	at("door@bridge-a", "gate@bridge-a2", "hall@bridge-a", "yard@bridge-a2")

	for actor, want := range map[vms.Actor][2]string{
		{Type: vms.ActorCamera, ID: "gate"}:      {"bridge-a2", "token:a"},
		{Type: vms.ActorBridge, ID: "bridge-b"}:  {"bridge-b", "token:b"},
		{Type: vms.ActorBridge, ID: "gate"}:      {},
		{Type: vms.ActorCamera, ID: "elsewhere"}: {},
	} {
		bridge, holder := r.Keeper("acc-1", actor)
		require.Equal(t, want, [2]string{bridge, holder}, "%v", actor)
		bridge, holder = r.Keeper("acc-2", actor)
		require.Empty(t, bridge+holder)
	}
}

// A client of OAuth is a bridge from its first registration on, also after a restart, until its
// bridge is released.
func TestWhatIsABridge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	r, err := Open(path)
	require.NoError(t, err)
	client := identity.Principal{Kind: identity.KindBridge, AccountID: "acc-1", Holder: "client:c"}
	require.False(t, r.IsBridge(client))
	require.True(t, r.IsBridge(identity.Principal{Kind: identity.KindBridge, Holder: "token:x"}))
	require.False(t, r.IsBridge(identity.Principal{Kind: identity.KindUser, Holder: "user:x"}))
	for range 3 {
		require.NoError(t, r.Register(t.Context(), client, vms.Registration{ID: "b1"}))
	}
	require.True(t, r.IsBridge(client))
	require.NoError(t, r.Close())
	r, err = Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.True(t, r.IsBridge(client))
	require.NoError(t, r.Release("acc-1", "b1"))
	require.False(t, r.IsBridge(client))
	require.NoError(t, r.Register(t.Context(), client, vms.Registration{ID: "b1"}))
	require.NoError(t, r.Forget("acc-1"))
	require.False(t, r.IsBridge(client))
	require.Empty(t, r.held)
}
