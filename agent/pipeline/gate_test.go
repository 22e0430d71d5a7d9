package pipeline

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/scripts/harness"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// How cameras may send a scene; %d is the pictures from keyframe to keyframe.
const (
	x264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -bf 0 -g %d -keyint_min %[1]d -sc_threshold 0 "
	x265 = "-c:v libx265 -preset ultrafast -pix_fmt yuv420p -x265-params log-level=error:info=0:scenecut=0:" +
		"open-gop=0:repeat-headers=1:b-adapt=0:keyint=%d:min-keyint=%[1]d:rc-lookahead=0"
	ahead = "-x264-params b-adapt=0:open-gop=0:force-cfr=1:rc-lookahead=0:sync-lookahead=0"
)

// gateCodings are ways to encode, and whether groups may stay undecoded in them at all.
var gateCodings = []struct {
	name   string
	group  int
	coding string
	holds  bool
}{
	{"floor", 20, x264 + "-crf 26 -qmin 26 " + ahead, true},
	{"group of 1 s", 10, x264 + "-crf 26 -qmin 26 " + ahead, true},
	{"group of 4 s", 40, x264 + "-crf 26 -qmin 26 " + ahead, true},
	{"slices", 20, x264 + "-crf 26 -qmin 26 -slices 4 " + ahead, true},
	{"baseline", 20, x264 + "-crf 27 -qmin 27 -profile:v baseline " + ahead, true},
	{"constant rate with a floor", 20, x264 + "-b:v 512k -maxrate 512k -bufsize 512k -qmin 26 " + ahead, true},
	{"constant rate with filler", 20, x264 + "-b:v 512k -maxrate 512k -bufsize 512k -qmin 26 " + ahead +
		":nal-hrd=cbr", true},
	{"h265", 20, x265 + ":bframes=0:crf=28:qpmin=28", true},
	{"group of 10 s", 100, x264 + "-crf 26 -qmin 26 " + ahead, false},
	{"constant quality", 20, x264 + "-crf 18 " + ahead, false},
	{"constant rate", 20, x264 + "-b:v 512k -maxrate 512k -bufsize 512k " + ahead, false},
	{"B-frames", 20, strings.Replace(x264, "-bf 0", "-bf 2", 1) + "-crf 26 -qmin 26", false},
	{"intra refresh", 20, x264 + "-crf 26 -qmin 26 " + ahead + ":intra-refresh=1", false},
}

// drawn is a scene in a file, nearly without loss.
func drawn(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed: apt install ffmpeg (scripts/deps does)")
	}
	f := clip.Draw(t, append(args, "--coding=-c:v libx264 -preset ultrafast -qp 4 -pix_fmt yuv420p -g 250")...)
	dir := t.TempDir()
	var raw []byte
	for _, u := range unitsOf(f) {
		raw = append(raw, u.Data...)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "raw.h264"), raw, 0o600))
	path := filepath.Join(dir, "scene.mkv")
	out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-r", fmt.Sprint(f.Rate), "-f", "h264", "-i",
		filepath.Join(dir, "raw.h264"), "-c", "copy", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// encoded is what a camera sends of a drawn scene, so many times over.
func encoded(t *testing.T, path, coding string, group, times int) []camera.AccessUnit {
	t.Helper()
	kind := "h264"
	if strings.Contains(coding, "x265") {
		kind = "h265"
	}
	f := clip.Draw(t, "--clip", path, "--codec", kind, "--coding="+fmt.Sprintf(coding, group))
	once := f.Units
	for i := 1; i < times; i++ {
		for _, u := range once {
			u.Shown += i * len(once)
			f.Units = append(f.Units, u)
		}
	}
	units := unitsOf(f)
	for i := range units {
		units[i].Time = at(f.Units[i].Shown * 1000 / f.Rate)
	}
	return units
}

// gated feeds a pipeline with what a camera sends.
func gated(t *testing.T, units []camera.AccessUnit, change func(*Deps)) *bench {
	t.Helper()
	b := newBench(t, func(c *configs.Config) {
		m := &c.Cameras[0].Motion
		m.Lines = []configs.Line{{ID: "middle", Direction: "any", Points: configs.Polyline{{0.5, 0}, {0.5, 1}}}}
		m.Areas = []configs.Area{{ID: "left", Area: configs.Polygon{{0, 0}, {0.5, 0}, {0.5, 1}, {0, 1}},
			Intrusion: true, Loiter: 3 * time.Second}}
	})
	b.deps.Gate = true
	if change != nil {
		change(&b.deps)
	}
	for _, u := range units {
		b.unit(t.Context(), u)
	}
	return b
}

// finish decodes what is still held, and answers the spans as milliseconds since epoch.
func (b *bench) finish(t *testing.T) (spans [][2]int64) {
	t.Helper()
	if b.gate.holds() {
		b.release(t.Context(), Off)
	}
	b.Pipeline.close()
	for _, ev := range b.events(t) {
		if ev.Type != vms.TypeDeviceStatus {
			if ev.EndTimestamp == nil { // a moment
				ev.EndTimestamp = &ev.StartTimestamp
			}
			spans = append(spans, [2]int64{ev.StartTimestamp.Sub(epoch).Milliseconds(),
				ev.EndTimestamp.Sub(epoch).Milliseconds()})
		}
	}
	return spans
}

// left is how many units stayed undecoded; what status tells is of the last minute only.
func (b *bench) left() float64 {
	return testutil.ToFloat64(b.deps.Metrics.unitsUndecoded.WithLabelValues("c"))
}

// However a camera codes a scene, the spans are those of decoding everything, within a picture:
// people who walk through, a van that is seen in three pictures, and what crosses a line or is in
// an area.
func TestGateLosesNothing(t *testing.T) {
	for _, name := range []string{"car", "person"} {
		if (harness.Race || testing.Short()) && name == "person" {
			continue
		}
		path := drawn(t, "--scene", name, "--seed", "1", "--size", "640x360", "--fps", "10", "--length", "40")
		for i, c := range gateCodings {
			if (harness.Race || testing.Short()) && i > 0 {
				break
			}
			t.Run(name+", "+c.name, func(t *testing.T) {
				t.Parallel()
				times := 3
				if harness.Race {
					times = 2
				}
				units := encoded(t, path, c.coding, c.group, times)
				if i == 0 {
					requireTogether(t, units[:len(units)/times])
				}
				b := gated(t, units, nil)
				share := b.left() / float64(len(units))
				held, full := b.finish(t), gated(t, units, func(d *Deps) { d.Gate = false }).finish(t)
				t.Logf("%d spans; %.2f undecoded, then %q", len(full), share, b.gate.why)
				require.GreaterOrEqual(t, len(full), 3)
				require.Len(t, held, len(full), "%v, in full %v", held, full)
				for i := range full {
					require.InDelta(t, full[i][0], held[i][0], 101, "%v, in full %v", held, full)
					require.InDelta(t, full[i][1], held[i][1], 101, "%v, in full %v", held, full)
				}
				if !c.holds {
					require.Zero(t, share)
				} else if c.name == "floor" {
					require.NotZero(t, share)
				}
			})
		}
	}
}

// arrives feeds units as a camera's reader does, and answers how often the pipeline was woken, and
// at which unit each event was first told.
func (b *bench) arrives(t *testing.T, units []camera.AccessUnit, patient bool) (wakes int, told map[string]int) {
	t.Helper()
	told = map[string]int{}
	for i, u := range units {
		if b.queue.PutUnit(u); !patient {
			b.queue.signal()
		}
		select {
		case <-b.queue.wake:
			wakes++
			for it, ok := b.queue.TryGet(); ok; it, ok = b.queue.TryGet() {
				b.unit(t.Context(), it.unit)
			}
		default:
		}
		for _, ev := range b.diary.events {
			if _, known := told[ev.ID]; !known {
				told[ev.ID] = i
			}
		}
	}
	return wakes, told
}

// requireTogether: pictures that are looked at together show what they show one by one. No event
// is told later, and the stills are the same.
func requireTogether(t *testing.T, units []camera.AccessUnit) {
	t.Helper()
	requireTogetherWith(t, units, 0.7, nil)
	requireTogetherWith(t, units, 0.8, func(c *configs.Config) { // the span of a region may begin in any motion
		m := &c.Cameras[0].Motion
		left := configs.Polygon{{0, 0}, {0.5, 0}, {0.5, 1}, {0, 1}}
		m.Regions = []configs.Region{{ID: "left", Name: "Left", Area: left}}
		m.Lines = []configs.Line{{ID: "middle", Direction: "any", Points: configs.Polyline{{0.5, 0}, {0.5, 1}}}}
		m.Areas = []configs.Area{{ID: "left", Area: left, Intrusion: true}}
	})
}

// requireTogetherWith has most as the share of pictures for which it may be woken.
func requireTogetherWith(t *testing.T, units []camera.AccessUnit, most float64, change func(*configs.Config)) {
	t.Helper()
	alone, both := newBench(t, change), newBench(t, change)
	often, first := alone.arrives(t, units, false)
	wakes, then := both.arrives(t, units, true)
	t.Logf("%d access units woke it %d and %d times; %d events", len(units), often, wakes, len(first))
	require.Equal(t, len(units), often)
	require.Less(t, float64(wakes), most*float64(len(units)))
	require.Equal(t, first, then)
	require.Equal(t, alone.finish(t), both.finish(t))
	for _, kind := range []stills.Kind{stills.Preview, stills.Main} {
		for _, u := range units {
			want, err := alone.ring.Find("c", kind, stills.AtOrBefore, u.Time)
			got, err2 := both.ring.Find("c", kind, stills.AtOrBefore, u.Time)
			require.Equal(t, err, err2)
			require.Equal(t, want.Time, got.Time)
			require.Equal(t, want.JPEG, got.JPEG)
		}
	}
}

// quiet is an empty scene, with a quantiser floor.
func quietUnits(t *testing.T, seconds, group int) []camera.AccessUnit {
	t.Helper()
	key := fmt.Sprint(group)
	if quietFilms[key] == nil {
		path := drawn(t, "--scene", "quiet", "--seed", "1", "--size", "640x360", "--fps", "10", "--length", "40")
		quietFilms[key] = encoded(t, path, gateCodings[0].coding, group, 3)
	}
	return slices.Clone(quietFilms[key][:seconds*10])
}

var quietFilms = map[string][]camera.AccessUnit{}

// A quiet scene is hardly decoded at all.
func TestGateHoldsAQuietScene(t *testing.T) {
	b := gated(t, quietUnits(t, 120, 20), nil)
	learned := 16 * 10
	require.Greater(t, b.left(), 0.9*float64(1200-learned), "of what comes after it is known: %q", b.gate.why)
	_, why, ok := b.Undecoded()
	require.True(t, ok)
	require.Empty(t, why, "a group is held now")
	require.Empty(t, b.finish(t))
}

// heldBench has a pipeline that holds a group, in its middle.
func heldBench(t *testing.T) (*bench, []camera.AccessUnit) {
	t.Helper()
	units := quietUnits(t, 40, 20)
	b := gated(t, units[:310], nil)
	require.Truef(t, b.gate.holds(), "all is decoded: %s", b.gate.why.Text())
	require.Len(t, b.gate.units, 10)
	return b, units[310:]
}

// What goes wrong inside a held group has it decoded, and nothing is held for ever.
func TestGateOpens(t *testing.T) {
	for name, c := range map[string]struct {
		change func(rest []camera.AccessUnit) []camera.AccessUnit
		why    Whole
	}{
		"a lost packet": {func(rest []camera.AccessUnit) []camera.AccessUnit {
			rest[0].Damaged = true
			return rest[:1]
		}, Damaged},
		"a pause": {func(rest []camera.AccessUnit) []camera.AccessUnit { return rest[9:10] }, ""},
		"a longer pause": {func(rest []camera.AccessUnit) []camera.AccessUnit {
			rest[0].Time = rest[0].Time.Add(1500 * time.Millisecond)
			return rest[:1]
		}, Damaged},
		"a clock that steps back": {func(rest []camera.AccessUnit) []camera.AccessUnit {
			rest[0].Time = rest[0].Time.Add(-time.Hour)
			return rest[:1]
		}, Damaged},
		"another rate": {func(rest []camera.AccessUnit) []camera.AccessUnit {
			rest[0].Data = append(slices.Clone(rest[0].Data), make([]byte, 4000)...)
			return rest[:1]
		}, Resized},
		"hardly any bytes": {func(rest []camera.AccessUnit) []camera.AccessUnit {
			rest[0].Data = rest[0].Data[:6]
			return rest[:1]
		}, Resized},
		"no keyframe any more": {func(rest []camera.AccessUnit) (out []camera.AccessUnit) {
			last := rest[9]
			for range 40 {
				out = append(out, last)
				last.Time = last.Time.Add(100 * time.Millisecond)
			}
			return out
		}, Resized},
		"a keyframe that is none": {func(rest []camera.AccessUnit) []camera.AccessUnit {
			rest[9].RandomAccess = true
			return rest[:10]
		}, NoIDR},
	} {
		t.Run(name, func(t *testing.T) {
			b, rest := heldBench(t)
			seen := b.lookedAt
			left := b.left()
			for _, u := range c.change(slices.Clone(rest)) {
				b.unit(t.Context(), u)
			}
			if c.why == "" {
				require.True(t, b.gate.holds())
				return
			}
			require.False(t, b.gate.holds())
			require.Equal(t, c.why, b.gate.why)
			if name != "a clock that steps back" { // the newest picture is the earliest
				require.False(t, b.lookedAt.Before(seen.Add(900*time.Millisecond)), "what was held has been looked at")
			}
			require.InDelta(t, left, b.left(), 0, "nothing of it was left undecoded")
			_, why, _ := b.Undecoded()
			require.Equal(t, c.why, why)
			require.NotEmpty(t, why.Text())
		})
	}
}

// What is held when the camera goes away is looked at before anything is said of that.
func TestGateOpensWhenTheStreamIsLost(t *testing.T) {
	b, rest := heldBench(t)
	b.status(t.Context(), camera.Status{State: camera.Disconnected, Reason: "away", Since: at(31_000)})
	require.False(t, b.gate.holds())
	require.WithinDuration(t, at(30_900), b.lookedAt, 0)
	rest[10].NewStream = true
	b.unit(t.Context(), rest[10])
	require.Empty(t, b.gate.sizes.groups, "another stream is another")
}

// A decoder process that dies while nothing is decoded costs no picture: the group is fed anew.
func TestGateOutlivesTheDecoder(t *testing.T) {
	units := quietUnits(t, 40, 20)
	pool := codec.NewPool(codec.Options{Isolation: codec.OwnProcess})
	defer func() { require.NoError(t, pool.Close()) }()
	b := gated(t, units[:310], func(d *Deps) { d.Pool = pool })
	require.True(t, b.gate.holds())
	killChildren(t)
	units[310].Damaged = true
	b.unit(t.Context(), units[310])
	require.False(t, b.waitKey)
	require.WithinDuration(t, at(31_000), b.lookedAt, 0, "damaged pictures are decoded, and not looked at for motion")
}

// Who asks for a still inside a held group gets the newest picture before, with its own time, and
// the rest stays held.
func TestGateMakesAStillOfWhatIsHeld(t *testing.T) {
	b, rest := heldBench(t)
	for _, c := range []struct{ before, want int }{{30_050, 30_000}, {30_450, 30_400}, {30_400, 30_400},
		{30_801, 30_800}} {
		w := &heldWish{before: at(c.before), done: make(chan struct{})}
		b.grant(t.Context(), w)
		<-w.done
		s, err := b.ring.Find("c", stills.Preview, stills.AtOrBefore, at(c.before))
		require.NoError(t, err)
		require.WithinDuration(t, at(c.want), s.Time, 0)
		require.True(t, b.gate.holds(), "%s", b.gate.why.Text())
	}
	before := b.left()
	for _, u := range rest[:20] {
		b.unit(t.Context(), u)
	}
	require.InDelta(t, before+11, b.left(), 0, "of 19 held pictures, 8 were decoded for the stills")
}

// A still is asked for by other goroutines, and what is asked where nothing is held costs no time.
func TestGateIsAskedFromOutside(t *testing.T) {
	b, rest := heldBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.work(ctx) }()
	b.Before(ctx, at(30_350))
	s, err := b.ring.Find("c", stills.Preview, stills.Before, at(30_350))
	require.NoError(t, err)
	require.WithinDuration(t, at(30_300), s.Time, 0)
	rest[0].Damaged = true
	b.queue.PutUnit(rest[0])
	require.Eventually(t, func() bool { _, why, _ := b.Undecoded(); return why == Damaged }, time.Minute,
		time.Millisecond)
	b.Before(ctx, at(31_000))
	cancel()
	<-done
}

// While a group is held, previews come no later than they are to.
func TestGateKeepsThePaceOfStills(t *testing.T) {
	b := gated(t, quietUnits(t, 120, 40), nil)
	require.Greater(t, b.left(), 600.0, "%s", b.gate.why.Text())
	for second := 10; second < 118; second++ {
		s, err := b.ring.Find("c", stills.Preview, stills.AtOrBefore, at(second*1000))
		require.NoError(t, err)
		require.Less(t, at(second*1000).Sub(s.Time), 10_100*time.Millisecond)
	}
}

// What fills up a constant rate is no part of a picture's size.
func TestFillerIsNoPicture(t *testing.T) {
	filled := func(c camera.Codec, nalus ...[]byte) camera.AccessUnit {
		u := camera.AccessUnit{Codec: c, RandomAccess: true}
		for _, n := range nalus {
			u.Data = append(append(u.Data, 0, 0, 0, 1), n...)
		}
		return u
	}
	sei, slice := append([]byte{6, 3, 200}, make([]byte, 201)...), []byte{0x41, 1, 2, 3}
	require.Equal(t, 4, size(filled(camera.H264, slice)))
	require.Equal(t, 8, size(filled(camera.H264, sei, slice, slice, append([]byte{12}, make([]byte, 999)...))))
	filler := append([]byte{38 << 1, 1}, make([]byte, 999)...)
	require.Equal(t, 5, size(filled(camera.H265, []byte{2, 1, 4, 4, 4}, filler)))
	require.Zero(t, size(filled(camera.MJPEG, slice)))
	require.True(t, renews(filled(camera.H264, []byte{7, 1}, []byte{8, 1}, sei, []byte{0x65, 1})))
	require.False(t, renews(filled(camera.H264, []byte{7, 1}, sei, []byte{0x41, 1})), "a recovery point")
	require.True(t, renews(filled(camera.H265, []byte{64, 1}, []byte{19 << 1, 1, 5})))
	require.False(t, renews(filled(camera.H265, []byte{64, 1}, []byte{21 << 1, 1, 5})), "CRA")
	require.False(t, renews(camera.AccessUnit{Codec: camera.H264, RandomAccess: true}))
}

// What is held of a camera is bounded.
func TestGateHoldsNoMoreThanAMegabyte(t *testing.T) {
	g := gate{economy: true, key: at(0), ends: at(0), units: make([]camera.AccessUnit, 1)}
	u := camera.AccessUnit{Codec: camera.H264, Data: make([]byte, 100_000)}
	for i := range 20 {
		u.Time = at(40 * (i + 1))
		if why := g.hold(u); why != "" {
			require.Equal(t, LongGroup, why)
			require.Equal(t, 10, i)
			return
		}
	}
	t.Fatal("there is no bound")
}

// Economy holds what sizes say nothing about, too.
func TestEconomyGoesByKeyframes(t *testing.T) {
	path := drawn(t, "--scene", "quiet", "--seed", "1", "--size", "640x360", "--fps", "10", "--length", "40")
	i := slices.IndexFunc(gateCodings, func(c struct {
		name   string
		group  int
		coding string
		holds  bool
	}) bool {
		return c.name == "constant rate"
	})
	units := encoded(t, path, gateCodings[i].coding, 20, 1)
	require.Zero(t, gated(t, units, nil).left())
	b := gated(t, units, func(d *Deps) { d.Economy = true })
	require.Greater(t, b.left(), 160.0, "%s", b.gate.why.Text())
}
