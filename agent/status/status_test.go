package status

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
	"vmsbridge/uplink/vms"
)

func at0(ago time.Duration) time.Time {
	return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(-ago)
}

// What is wrong stands first, the worst of it before the rest.
func TestPrint(t *testing.T) {
	r := Report{Time: at0(0), Bridge: "b", Name: "Gate", Version: "1", Platform: "linux/arm64", Running: true, PID: 7, Started: at0(50 * time.Hour),
		Problems: []Problem{{Kind: Parked, Text: "2 events were refused", Hint: "look"}, {Kind: Cameras, Text: "1 camera is not online"}, {Kind: Disk, Text: "the disk is full"}},
		Config:   Config{File: "/etc/x.yaml", Loaded: at0(time.Hour), Problems: []string{"x.yaml:1:1: y: z"}, Restart: []string{"api.listen"}},
		Cameras: []Camera{{ID: "gate", Name: "Gate", State: "online", Online: true, Since: at0(30 * time.Second), Codec: "h264", Width: 640, Height: 360, Transport: "tcp", Preview: at0(3 * time.Second), Main: at0(time.Hour)},
			{ID: "yard", Name: "Yard", State: "unreachable", Reason: "No route.", Since: at0(3 * time.Hour), Tampered: "covered"}},
		Service: &Link{URL: "https://h", Tunnel: "up"}, Outbox: Outbox{Waiting: 3, Parked: 2, Oldest: vms.Ptr(at0(72 * time.Hour))},
		Disk: Space{Path: "/data", Free: 5e6, Total: 31e9}, Stills: Stills{Stills: 9, Bytes: 2e9, Most: 4e9}, Journal: Events{Events: 5, Bytes: 3e6},
		Decoders: codec.Capabilities{H264: codec.Capability{OK: true, Library: "libavcodec", Version: "59"}, JPEG: codec.Capability{OK: true, Library: "libjpeg"},
			Confinement: codec.Confinement{InForce: []string{"seccomp"}, Missing: []string{"Landlock (this kernel has none)"}}}}
	r.Sort()
	var b strings.Builder
	require.NoError(t, r.Print(&b))
	text := b.String()
	require.True(t, strings.HasPrefix(text, "3 things are wrong:\n  ! the disk is full\n  ! 1 camera is not online\n  ! 2 events were refused\n    → look\n"), text)
	for _, line := range []string{"bridge    b (Gate), version 1, linux/arm64", "runs      since 2026-10-30T10:00:00Z (2d ago), process 7", "disk      5 MB free of 31 GB at /data",
		"          waits for a restart: api.listen", "          x.yaml:1:1: y: z", "  yard: No route.", "service   https://h: takes events; tunnel up", "outbox    3 waiting, 2 parked, the oldest since 3d ago",
		"stills    9, 2.0 GB of 4.0 GB", "decoders  H.264 libavcodec 59; H.265 missing; JPEG libjpeg",
		"confined by seccomp; missing: Landlock (this kernel has none)"} {
		require.Contains(t, text, line+"\n")
	}
	require.Regexp(t, `(?m)^gate +online +30s ago +h264 640x360 tcp +3s ago +Gate$`, text)
	require.Regexp(t, `(?m)^yard +unreachable, covered +3h ago +- +Yard$`, text)
	require.True(t, r.Has(Disk))
	require.False(t, r.Has(Clock))

	b.Reset()
	require.NoError(t, (&Report{Time: at0(0), Bridge: "b"}).Print(&b))
	require.True(t, strings.HasPrefix(b.String(), "All is well.\n"))
	require.Contains(t, b.String(), "runs      no\n")
}

// Every kind that a running bridge may name has a rank, so that none comes first by mistake.
func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range Kinds {
		require.False(t, seen[k], k)
		seen[k] = true
	}
	require.Less(t, rank(Journal), rank(Cameras))
	require.Equal(t, -1, rank(NotRunning), "which comes before all")
}
