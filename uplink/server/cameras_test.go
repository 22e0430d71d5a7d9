package server

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// manyCameras is an account with many cameras, three of them at the bridge of the token "bridge".
// It counts what it is asked for.
type manyCameras struct{ ids, looks int }

func (m *manyCameras) CameraIDs(_, holder string) []string {
	out := []string{"camera-00003", "camera-00007", "camera-00009"}
	if holder != "token:bridge" {
		out = nil
		for i := range 10_000 {
			out = append(out, fmt.Sprintf("camera-%05d", i))
		}
	}
	m.ids += len(out)
	return out
}

func (m *manyCameras) CameraOf(_, id string) (vms.Camera, bool) {
	m.looks++
	return vms.Camera{ID: id, AccountID: "acc-1"}, id < "camera-10000"
}

func (*manyCameras) HasActor(context.Context, string, vms.Actor) (bool, error) { return true, nil }

// manyKeepers says of those cameras which bridge has them.
type manyKeepers struct{ *bridgeLog }

func (manyKeepers) Keeper(_ string, a vms.Actor) (bridge, holder string) {
	if slices.Contains([]string{"camera-00003", "camera-00007", "camera-00009"}, a.ID) {
		return "bridge-1", "token:bridge"
	}
	return "bridge-2", "token:bridge-2"
}

// A list of cameras costs what its reader sees, and the page, not what the account has.
func TestAListCostsWhatItsReaderSees(t *testing.T) {
	b := newBed(t)
	many := &manyCameras{}
	b.server.opts.Cameras, b.server.opts.Bridges = many, manyKeepers{b.server.opts.Bridges.(*bridgeLog)}
	b.as("two",
		&identity.Grants{Devices: map[string]string{"camera-00400": "R", "camera-00500": "RW", "camera-00600": "S",
			"none": "R"}})
	b.as("all", &identity.Grants{All: true})
	b.as("all and a share", &identity.Grants{All: true, Shared: map[string]string{"camera-0": "acc-2"}})
	few := []string{"camera-00003", "camera-00007", "camera-00009"}
	for token, want := range map[string]struct {
		total, ids, looks int
		first             []string
	}{
		tokenBridge:       {3, 3, 3, few},
		"two":             {2, 0, 10, []string{"camera-00400", "camera-00500"}},
		"all":             {10_000, 10_000, 100, nil},
		"all and a share": {10_001, 10_000, 101, []string{"camera-0", "camera-00000"}},
	} {
		*many = manyCameras{}
		var page vms.PageOf[vms.Camera]
		b.do("GET", "/api/v3.0/cameras?pageSize=100", token, "").into(200, &page)
		require.Equal(t, want.total, page.TotalSize, token)
		require.LessOrEqual(t, many.ids, want.ids, token)
		require.LessOrEqual(t, many.looks, want.looks, token)
		for i, id := range want.first {
			require.Equal(t, id, page.Results[i].ID, token)
		}
	}
}
