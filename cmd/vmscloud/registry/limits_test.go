package registry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// An account has as many cameras and bridges as it may, and is told which number that is; what it
// has stays, and others lose nothing.
func TestLimits(t *testing.T) {
	r := newRegistry(t)
	quota := map[string]int{"small": 2}
	r.Limits = Limits{Cameras: 4, Bridges: 2}
	r.Quota = func(account string) (int, error) { return quota[account], nil }
	register := func(account, bridge string, cameras ...string) error {
		reg := vms.Registration{ID: bridge}
		for _, c := range cameras {
			reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: c})
		}
		return r.Register(t.Context(), principal(account), reg)
	}
	refused := func(account, bridge string) (ids []string) {
		for _, c := range r.Refused(account, bridge) {
			ids = append(ids, c.ID)
		}
		return ids
	}
	forbidden := func(err error, words string) {
		t.Helper()
		var e *vms.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, []any{403, vms.ReasonLimit}, []any{e.Code, e.Reason()})
		require.Contains(t, e.Message, words)
	}
	// The record of the account counts, and where it says nothing the operator's limit.
	require.NoError(t, register("small", "b1", "c1", "c2", "c3"))
	require.Equal(t, []string{"c1@b1", "c2@b1"}, cameraIDs(t, r, "small"))
	require.Equal(t, []string{"c3"}, refused("small", "b1"))
	require.Contains(t, r.Refused("small", "b1")[0].Reason, "2 cameras by its camera_quantity")
	require.NoError(t, register("big", "b1", "c1", "c2", "c3", "c4", "c5"))
	require.Equal(t, []string{"c5"}, refused("big", "b1"))
	require.Contains(t, r.Refused("big", "b1")[0].Reason, "4 cameras here; the operator can raise --account-cameras")
	_, err := r.HasActor(t.Context(), "small", vms.Actor{Type: vms.ActorCamera, ID: "c3"})
	forbidden(err, "The camera c3 is not taken: the account may have 2 cameras")
	require.False(t, has(t, r, "small", "camera", "c4"), "others are as unknown as ever")

	// One goes, another one comes; also in one registration, and by another bridge.
	require.NoError(t, register("small", "b1", "c3", "c2"))
	require.Equal(t, []string{"c2@b1", "c3@b1"}, cameraIDs(t, r, "small"))
	require.Empty(t, refused("small", "b1"))
	require.NoError(t, register("small", "b2", "c1", "c2"))
	require.Equal(t, []string{"c2@b2", "c3@b1"}, cameraIDs(t, r, "small"), "it moves, which makes no more")
	require.Equal(t, []string{"c1"}, refused("small", "b2"))

	forbidden(register("small", "b3"), "2 bridges here, and has them")
	require.NoError(t, register("big", "b2"))

	// A lower limit takes nothing away.
	quota["small"], r.Limits = 1, Limits{Cameras: 1, Bridges: 1}
	require.NoError(t, register("small", "b1", "c3", "c5"))
	require.NoError(t, register("small", "b2", "c2"))
	require.Equal(t, []string{"c2@b2", "c3@b1"}, cameraIDs(t, r, "small"))
	require.Equal(t, []string{"c5"}, refused("small", "b1"))

	// What is remembered is bounded too, of cameras that come and go and of what else reports.
	r.Limits = Limits{Cameras: 10}
	for n := range 500 {
		var ids []string
		for c := range 10 {
			ids = append(ids, fmt.Sprintf("n%d-%d", n, c))
		}
		require.NoError(t, register("busy", "b1", ids...))
	}
	require.Equal(t, r.Limits.known(), len(r.accounts["busy"].actors))
	require.Len(t, refused("busy", "b1"), 10)
	require.Contains(t, r.Refused("busy", "b1")[0].Reason, "more than are remembered")
	_, err = r.Claim("busy", vms.Actor{Type: "sensor", ID: "s1"}, "")
	forbidden(err, "--account-cameras")
	mine, err := r.Claim("big", vms.Actor{Type: "sensor", ID: "s1"}, "")
	require.NoError(t, err)
	require.True(t, mine)
}
