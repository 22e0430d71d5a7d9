package unit

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/bluenviron/gortsplib/v4/pkg/format"
	"github.com/pion/rtp"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
)

// packetize makes packets of a clip's pictures, 3000 ticks apart.
func packetize(t testing.TB, c clip.Clip) [][]*rtp.Packet {
	t.Helper()
	var enc func([][]byte) ([]*rtp.Packet, error)
	switch Codec(c.Codec) {
	case H264:
		e, err := (&format.H264{PayloadTyp: 96, PacketizationMode: 1}).CreateEncoder()
		require.NoError(t, err)
		e.PayloadMaxSize = 300
		enc = e.Encode
	case H265:
		e, err := (&format.H265{PayloadTyp: 96}).CreateEncoder()
		require.NoError(t, err)
		e.PayloadMaxSize = 300
		enc = e.Encode
	case MJPEG:
		e, err := (&format.MJPEG{}).CreateEncoder()
		require.NoError(t, err)
		enc = func(n [][]byte) ([]*rtp.Packet, error) { return e.Encode(n[0]) }
	}
	seq := uint16(65500)
	out := make([][]*rtp.Packet, len(c.Units))
	for i, au := range c.Units {
		pkts, err := enc(au)
		require.NoError(t, err)
		for _, p := range pkts {
			p.SequenceNumber = seq
			p.Timestamp = uint32(i) * 3000
			seq++
		}
		out[i] = pkts
	}
	return out
}

// collectCoded runs an assembler as the RTSP client would: a gap in the sequence numbers is told
// first.
func collectCoded(t testing.TB, codec Codec, pkts []*rtp.Packet) (out []Coded, errs []error) {
	t.Helper()
	a, err := NewAssembler(codec, 0, func(c Coded) { out = append(out, c) },
		func(err error) { errs = append(errs, err) })
	require.NoError(t, err)
	for i, p := range pkts {
		if i > 0 && p.SequenceNumber != pkts[i-1].SequenceNumber+1 {
			a.Lost()
		}
		c := *p
		a.Add(&c, int64(i), Steady)
	}
	return out, errs
}

func flatten(units [][]*rtp.Packet) (out []*rtp.Packet) {
	for _, u := range units {
		for _, p := range u {
			c := *p
			out = append(out, &c)
		}
	}
	return out
}

func without(pkts []*rtp.Packet, drop func(i int, p *rtp.Packet) bool) (out []*rtp.Packet) {
	for i, p := range pkts {
		if !drop(i, p) {
			out = append(out, p)
		}
	}
	return out
}

func TestAssemblesWhole(t *testing.T) {
	for _, name := range []string{"plain.h264", "slices.h264", "bframes.h264", "open.h265", "motion.mjpeg"} {
		c := clip.Load(t, name)
		units := packetize(t, c)
		got, errs := collectCoded(t, Codec(c.Codec), flatten(units))
		require.Empty(t, errs)
		require.Len(t, got, len(c.Units), name)
		arrival := int64(0)
		for i, u := range got {
			require.False(t, u.broken || u.after, "%s %d", name, i)
			require.Equal(t, uint32(i)*3000, u.RTP)
			require.Equal(t, arrival, u.arrival, "that of the first packet")
			arrival += int64(len(units[i]))
			if Codec(c.Codec) != MJPEG {
				require.Equal(t, c.Units[i], u.nalus)
			}
		}
	}
}

// A camera that never sets the marker bit is read all the same, one picture late.
func TestAssemblesWithoutMarkers(t *testing.T) {
	for _, name := range []string{"plain.h264", "slices.h264", "open.h265", "motion.mjpeg"} {
		c := clip.Load(t, name)
		pkts := flatten(packetize(t, c))
		for _, p := range pkts {
			p.Marker = false
		}
		got, errs := collectCoded(t, Codec(c.Codec), pkts)
		require.Empty(t, errs, name)
		require.Len(t, got, len(c.Units)-1, name)
		for i, u := range got {
			require.False(t, u.broken || u.after)
			require.Equal(t, uint32(i)*3000, u.RTP)
		}
	}
}

// A camera that sets the marker on every slice is found out at its second slice; from the next
// picture on all are whole.
func TestAssemblesWithMarkersOnEverySlice(t *testing.T) {
	c := clip.Load(t, "slices.h264")
	pkts := flatten(packetize(t, c))
	for i, p := range pkts {
		typ := p.Payload[0] & 0x1F
		if typ == 1 || typ == 5 || typ == 28 && p.Payload[1]&0x40 != 0 {
			pkts[i].Marker = true
		}
	}
	got, errs := collectCoded(t, Codec(c.Codec), pkts)
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], "marker bit on every slice")
	whole := 0
	for _, u := range got {
		if !u.broken && len(u.nalus) >= 4 {
			whole++
		}
	}
	require.GreaterOrEqual(t, whole, len(c.Units)-3)
}

// Whatever single packet is lost, the picture it belonged to is not handed on as whole, the next
// one knows, and no other picture is touched.
func TestEverySingleLoss(t *testing.T) {
	for _, name := range []string{"plain.h264", "slices.h264", "open.h265", "motion.mjpeg"} {
		c := clip.Load(t, name)
		if len(c.Units) > 12 {
			c.Units = c.Units[:12]
		}
		units := packetize(t, c)
		all := flatten(units)
		for lost := 1; lost < len(all)-1; lost++ {
			victim := int(all[lost].Timestamp / 3000)
			got, _ := collectCoded(t, Codec(c.Codec),
				without(all, func(i int, _ *rtp.Packet) bool { return i == lost }))
			msg := fmt.Sprintf("%s: packet %d of picture %d", name, lost, victim)
			seen := map[int]Coded{}
			for _, u := range got {
				seen[int(u.RTP/3000)] = u
			}
			for i := range c.Units {
				u, there := seen[i]
				switch {
				case i == victim:
					if there && Codec(c.Codec) != MJPEG {
						lostSlice := len(u.nalus) < len(c.Units[i])
						require.True(t, u.broken || u.after || !lostSlice, msg)
						if look(Codec(c.Codec), u.nalus).coded && missingSlice(c, i, u) {
							require.True(t, u.broken || next(seen, i).after || i == len(c.Units)-1, msg)
						}
					}
				case there:
					require.False(t, u.broken, "%s breaks picture %d", msg, i)
					require.True(t, i == victim+1 || !u.after, "%s touches picture %d", msg, i)
				case i != len(c.Units)-1:
					t.Fatalf("%s: picture %d is missing", msg, i)
				}
			}
		}
	}
}

func next(seen map[int]Coded, i int) Coded { return seen[i+1] }

// missingSlice says that a slice of a picture did not come through.
func missingSlice(c clip.Clip, i int, u Coded) bool {
	count := func(nalus [][]byte) (n int) {
		for _, x := range nalus {
			if look(Codec(c.Codec), [][]byte{x}).coded {
				n++
			}
		}
		return n
	}
	return count(u.nalus) < count(c.Units[i])
}

// A picture that is too large, or has more slices than gortsplib takes, is dropped and said so; the
// stream goes on.
func TestTooManySlices(t *testing.T) {
	c := clip.Load(t, "plain.h264")
	slice := append([]byte(nil), c.Units[1][len(c.Units[1])-1]...)
	for range 40 {
		c.Units[1] = append(c.Units[1], slice)
	}
	got, errs := collectCoded(t, H264, flatten(packetize(t, c)))
	require.NotEmpty(t, errs)
	require.ErrorContains(t, errs[0], "NALU count")
	require.Len(t, got, len(c.Units)-1)
	require.True(t, got[1].after)
	require.False(t, got[2].after)
}

// What a fuzzer finds: no packet may panic, and every picture that comes out is within the limit.
func FuzzAssembler(f *testing.F) {
	for i, name := range []string{"plain.h264", "open.h265", "motion.mjpeg"} {
		for _, p := range flatten(packetize(f, clip.Load(f, name)))[:6] {
			f.Add(uint8(i), p.Payload, uint8(3))
		}
	}
	f.Add(uint8(0), []byte{0x18, 0, 1, 0x67}, uint8(1))
	f.Add(uint8(1), []byte{0x60, 1, 0, 1, 0x42}, uint8(0))
	f.Add(uint8(2), []byte{0, 0, 0, 0, 1, 255, 0, 0, 0, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, kind uint8, payload []byte, how uint8) {
		codec := []Codec{H264, H265, MJPEG}[kind%3]
		b := NewBuilder(codec, 0, &Counts{})
		a, err := NewAssembler(codec, 0, func(c Coded) {
			if u, ok := b.Build(c); ok && len(u.Data) == 0 {
				t.Fatal("an empty unit")
			}
		}, func(error) {})
		require.NoError(t, err)
		for i := range 4 {
			if how>>i&1 != 0 {
				a.Lost()
			}
			p := &rtp.Packet{Header: rtp.Header{Marker: how>>(i+4)&1 != 0, Timestamp: uint32(i/2) * 3000,
				SequenceNumber: uint16(i)}, Payload: payload}
			a.Add(p, int64(i), Steady)
		}
	})
}

// Fragments with nothing in them end: the depacketisers count bytes, and would hold as many as
// come.
func TestFragmentsWithoutPayload(t *testing.T) {
	for codec, fragment := range map[Codec]func(first bool) []byte{
		H264: func(first bool) []byte { return []byte{0x7c, map[bool]byte{true: 0x85, false: 0x05}[first]} },
		H265: func(first bool) []byte { return []byte{49 << 1, 1, map[bool]byte{true: 0x93, false: 0x13}[first]} },
	} {
		t.Run(string(codec), func(t *testing.T) {
			var errs []string
			a, err := NewAssembler(codec, 0, func(Coded) { t.Error("a picture came out") }, func(err error) {
				errs = append(errs, err.Error())
			})
			require.NoError(t, err)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			const packets = 50_000
			for i := range packets {
				p := &rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: 1},
					Payload: make([]byte, 0, 1472)}
				p.Payload = append(p.Payload, fragment(i == 0)...)
				a.Add(p, int64(i), Steady)
				if i == mostPackets-100 || i == packets-1 {
					runtime.GC()
					runtime.ReadMemStats(&after)
					require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20), "after %d packets", i)
				}
			}
			require.NotEmpty(t, errs)
			require.Contains(t, errs[0], "in more than 8192 packets")
			runtime.KeepAlive(a)
		})
	}
}
