package camera

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/camera/unit"
)

// requireSane checks what holds for the units of any source.
func requireSane(t *testing.T, units []AccessUnit) {
	t.Helper()
	require.True(t, units[0].NewStream && units[0].RandomAccess, "the first unit starts a stream")
	seen := map[time.Time]bool{}
	for i, u := range units {
		require.False(t, seen[u.Time], "unit %d has the time of another", i)
		seen[u.Time] = true
		require.Zero(t, u.Time.Nanosecond()%1000)
		require.True(t, !u.NewStream || u.RandomAccess)
		require.NotEmpty(t, u.Data)
	}
}

func TestReadsEachCodec(t *testing.T) {
	for _, tc := range []struct {
		clip    string
		random  int // every how many units
		reorder bool
	}{
		{"plain.h264", 10, false},
		{"bframes.h264", 10, true},
		{"slices.h264", 10, false},
		{"open.h265", 0, true},
		{"motion.mjpeg", 1, false},
	} {
		for _, transport := range []string{TransportTCP, TransportUDP} {
			t.Run(tc.clip+" "+transport, func(t *testing.T) {
				t.Parallel()
				cam := (&fakeCamera{clip: clip.Load(t, tc.clip), udp: true}).start(t)
				cfg := testConfig(cam.url)
				cfg.Transport = transport
				began := time.Now()
				r := read(t, cfg)
				units := r.waitUnits(40)
				requireSane(t, units)
				first := units[0]
				require.Equal(t, []int{160, 120}, []int{first.Width, first.Height})
				require.WithinRange(t, first.Time, began, time.Now())
				if tc.random > 0 {
					for i, u := range units {
						require.Equal(t, i%tc.random == 0, u.RandomAccess, "unit %d", i)
					}
				}
				for i, u := range units {
					require.False(t, u.Damaged, "unit %d", i)
					require.Equal(t, i == 0, u.NewStream, "unit %d", i)
				}
				sorted := slices.IsSortedFunc(units, func(a, b AccessUnit) int { return a.Time.Compare(b.Time) })
				require.Equal(t, !tc.reorder, sorted, "B-frames come in decode order")
				st := r.src.Status()
				require.Equal(t, Online, st.State)
				require.Equal(t, transport, st.Transport)
				if first.Codec != MJPEG {
					for _, u := range units {
						if u.RandomAccess {
							got := nals(t, u.Data)
							sets := map[bool]int{true: 3, false: 2}[u.Codec == H265]
							// One of each kind is in as many units as there are kinds: no more and
							// no other sets.
							require.True(t, unit.NewBuilder(u.Codec, 0, &unit.Counts{}, got[:sets]...).Decodable(),
								"parameter sets stand in front")
						}
						require.True(t, bytes.HasPrefix(u.Data, []byte{0, 0, 0, 1}))
					}
				}
				r.stop()
				cam.left(transport)
			})
		}
	}
}
