package registry

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/uplink/vms"
)

// A list that nobody waits for any more ends at once, however long it would have been.
func TestALongListEndsWithItsClient(t *testing.T) {
	r := newRegistry(t)
	for b := range 5 {
		reg := vms.Registration{ID: fmt.Sprintf("b%d", b)}
		for c := range 1000 {
			reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: fmt.Sprintf("b%d-c%d", b, c)})
		}
		require.NoError(t, r.Register(t.Context(), principal("acc-1"), reg))
	}
	ctx, leave := context.WithCancel(t.Context())
	looked := 0
	r.Away = func(string, vms.Actor) bool { looked++; leave(); return false }
	_, err := r.Devices(ctx, "acc-1")
	require.ErrorIs(t, err, context.Canceled)
	require.LessOrEqual(t, looked, atOnce)
	list, err := r.Devices(t.Context(), "acc-1")
	require.NoError(t, err)
	require.Len(t, list, 5005)
}

// The lists of ids, which are kept, always say what the registry says of each camera and its
// bridge.
func TestListsOfIDs(t *testing.T) {
	r := newRegistry(t)
	r.Holds = func(string) (string, bool, error) { return "", false, nil } // whoever comes may have it
	rapid.Check(t, func(t *rapid.T) {
		for range 2 {
			p := principal("acc-1")
			p.Holder = rapid.SampledFrom([]string{"token:a", "token:b"}).Draw(t, "holder")
			reg := vms.Registration{ID: rapid.SampledFrom([]string{"b1", "b2", "b3"}).Draw(t, "bridge")}
			for _, c := range rapid.SliceOfDistinct(rapid.IntRange(1, 6), rapid.ID).Draw(t, "cameras") {
				reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: fmt.Sprintf("c%d", c)})
			}
			require.NoError(t, r.Register(t.Context(), p, reg))
			want, devices := map[string][]string{"": nil, "token:a": nil, "token:b": nil}, []string{}
			for c := range 7 {
				id := fmt.Sprintf("c%d", c)
				if cam, ok := r.CameraOf("acc-1", id); ok {
					_, holder := r.Keeper("acc-1", vms.Actor{Type: vms.ActorCamera, ID: id})
					want[""], want[holder], devices = append(want[""], id), append(want[holder], id),
						append(devices, id+"@"+cam.BridgeID)
				}
			}
			for holder, ids := range want {
				require.Equal(t, ids, append([]string(nil), r.CameraIDs("acc-1", holder)...), holder)
			}
			listed, err := r.Devices(t.Context(), "acc-1")
			require.NoError(t, err)
			var got []string
			for _, d := range listed {
				one, ok := r.Device("acc-1", d.ID)
				require.True(t, ok)
				require.Equal(t, d, one)
				if d.Kind == vms.ActorCamera {
					got = append(got, d.ID+"@"+d.Bridge)
				}
			}
			require.True(t, slices.Equal(devices, got), "%v, %v", devices, got)
		}
	})
}
