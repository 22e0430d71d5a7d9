package health

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

func at0(ago time.Duration) time.Time {
	return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(-ago)
}

// What is wrong stands first, the worst of it before the rest.
func TestPrint(t *testing.T) {
	r := Report{Time: at0(0), Bridge: "b", Name: "Gate", Version: "1", Platform: "linux/arm64", Running: true, PID: 7,
		Started: at0(50 * time.Hour),
		Config: Config{File: "/etc/x.yaml", Loaded: at0(time.Hour), Problems: []string{"x.yaml:1:1: y: z"},
			Restart: []string{"api.listen"}},
		Cameras: []Camera{{ID: "gate", Name: "Gate", State: "online", Online: true, Since: at0(30 * time.Second),
			Codec: "h264", Width: 640, Height: 360, Transport: "tcp", Preview: at0(3 * time.Second),
			Main: at0(time.Hour), Undecoded: 0.9312},
			{ID: "door", State: "online", Online: true, Undecoded: 0.1, DecodesAll: "something moves"},
			{ID: "yard", Name: "Yard", State: "unreachable", Reason: "No route.", Since: at0(3 * time.Hour),
				Tampered: "covered"}},
		Service: &Link{URL: "https://h", Tunnel: "up", SignedIn: true},
		Outbox:  Outbox{Waiting: 3, Parked: 2, Oldest: vms.Ptr(at0(72 * time.Hour))},
		Disk:    Space{Path: "/data", Free: 5e6, Total: 31e9, Least: 512e6},
		Stills:  Stills{Stills: 9, Bytes: 2e9, Most: 4e9}, Journal: Events{Events: 5, Bytes: 3e6},
		Decoders: codec.Capabilities{H264: codec.Capability{OK: true, Library: "libavcodec", Version: "59"},
			JPEG: codec.Capability{OK: true, Library: "libjpeg"},
			Confinement: codec.Confinement{InForce: []string{"seccomp"},
				Missing: []string{"Landlock (this kernel has none)"}}}}
	r.Judge()
	var b strings.Builder
	require.NoError(t, r.Print(&b))
	text := b.String()
	require.True(t,
		strings.HasPrefix(text, "6 things are wrong:\n  ! the disk that holds /data is almost full: 5 MB are free\n  "+
			"  → something else"), text)
	for i, line := range []string{"the disk that holds", "1 camera is not online: Yard (No route.)",
		"the view of 1 camera was tampered with: Yard (covered)",
		"the edit of /etc/x.yaml", "the new value holds only after a restart: api.listen",
		"the service has refused 2 events for good"} {
		require.Contains(t, strings.Split(text, "  ! ")[i+1], line, "the worst first")
	}
	for _, line := range []string{"bridge    b (Gate), version 1, linux/arm64",
		"runs      since 2026-10-30T10:00:00Z (2d ago), process 7", "disk      5 MB free of 31 GB at /data",
		"          waits for a restart: api.listen", "          x.yaml:1:1: y: z", "  yard: No route.",
		"  gate: 93 % of its pictures were left undecoded in the last minute: nothing moves",
		"  door: all of its pictures are decoded: something moves",
		"service   https://h: takes events; tunnel up", "outbox    3 waiting, 2 parked, the oldest since 3d ago",
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

// Kinds are in the order of the table, each once: a metric has one series of each.
func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range Kinds {
		require.False(t, seen[k], k)
		seen[k] = true
	}
	require.Equal(t, Journal, Kinds[0])
	require.Less(t, slices.Index(Kinds, Journal), slices.Index(Kinds, Cameras))
	require.NotContains(t, Kinds, NotRunning, "only vmsbridge status says so")
}

// Everything that can be wrong at once: each row of the table says something to a person, with what
// to do or why, and names neither camera nor address nor reason where no token is asked for.
// Status, metrics and health checks agree.
func TestTheTableOfChecks(t *testing.T) {
	bad := codec.Capability{Problem: "it is secret-here", Hint: "install it"}
	r := Report{Time: at0(0), Running: true,
		Config: Config{Problems: []string{"secret-here"}, Restart: []string{"api.listen"}},
		Cameras: []Camera{{ID: "secret-here", State: "unreachable", Reason: "secret-here", Stuck: true,
			Tampered: "covered", Losing: 0.5, Torn: 0.2},
			{ID: "secret-here", State: "online", Online: true, Decoding: &Load{KeysOnly: true},
				MainRefused: "secret-here"}},
		Service: &Link{URL: "secret-here", Problem: "the service refuses the token", Why: "secret-here",
			TunnelProblem: "the tunnel does not stand"},
		Outbox: Outbox{Parked: 1}, Disk: Space{Path: "secret-here", Free: 1, Total: 100, Least: 50, Slow: &Slow{},
			NoFiles: true},
		Stills: Stills{Damaged: "secret-here"}, Journal: Events{Damaged: "secret-here", Failing: "secret-here",
			Remedy: "free space"},
		Users:        Users{Damaged: "secret-here", Shut: "secret-here"},
		ClockProblem: "secret-here", ClockBeside: "secret-here",
		Decoders: codec.Capabilities{H264: bad, H265: bad, JPEG: bad}, DecodersKnown: true,
		DecodersProblem: "secret-here", DecoderDeaths: codec.Deaths{Count: 9},
		Sinks: []delivery.SinkStatus{{Name: "secret-here", Problem: "the broker is secret-here"}}}
	r.Judge()
	for _, c := range checks {
		if c.kind == NotRunning || c.kind == Service { // the other side of what is set here
			continue
		}
		require.NotEmpty(t, c.holds(&r), "%s: nothing is found", c.kind)
		require.True(t, r.Has(c.kind))
	}
	for i, p := range r.Problems {
		require.NotEmpty(t, p.Text)
		if p.Kind != SignIn && p.Kind != Tunnel && p.Kind != Sink { // their texts say it
			require.NotEmpty(t, p.Hint, p.Text)
		}
		if i > 0 {
			require.LessOrEqual(t, slices.Index(Kinds, r.Problems[i-1].Kind), slices.Index(Kinds, p.Kind),
				"the worst first")
		}
	}
	s := r.Summary()
	require.Equal(t, "degraded", s.Status)
	require.Len(t, s.Kinds, len(r.Problems))
	require.NotContains(t, strings.Join(s.Trouble, "\n"), "secret-here", "the health checks need no token")
	shown := map[string]float64{}
	reg := prometheus.NewRegistry()
	reg.MustRegister(Collector(func() Report { r.Cameras = nil; return r }))
	families, err := reg.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "vmsbridge_agent_problem" {
				shown[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	require.Len(t, shown, len(Kinds))
	for _, k := range Kinds {
		require.Equal(t, yes(r.Has(k)), shown[string(k)], k)
	}

	r = Report{Time: at0(0), DownWhy: "; systemd says failed", DownHint: "vmsbridge service start",
		Config: Config{Problems: []string{"x"}}}
	r.Judge()
	require.Equal(t,
		[]Problem{{Kind: NotRunning, Text: "the bridge does not run; systemd says failed",
			Hint: "vmsbridge service start"}}, r.Problems)
}

func ExampleReport_Judge() {
	r := Report{Running: true, Disk: Space{Path: "/data", Free: 5e6, Total: 32e9, Least: 512e6}}
	r.Judge()
	for _, p := range r.Problems {
		fmt.Println(p.Kind, "-", p.Text)
		fmt.Println("→", p.Hint)
	}
	// Output:
	// disk - the disk that holds /data is almost full: 5 MB are free
	// → something else than stills fills it; free space, or make stills.max_size smaller
}
