package camera

import (
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
)

// TestUnreadableRTPJPEG: RTP says what a JPEG is like in a few bytes, and some of what it may say
// cannot be read here. Such a camera is told apart from one that is well, and nothing of it reaches
// the decoder.
func TestUnreadableRTPJPEG(t *testing.T) {
	t.Parallel()
	first := func(p *rtp.Packet) bool { return p.Payload[1] == 0 && p.Payload[2] == 0 && p.Payload[3] == 0 }
	for name, change := range map[string]func(p *rtp.Packet){
		"restart markers": func(p *rtp.Packet) { p.Payload[4] |= 64 },
		"tables that are not there": func(p *rtp.Packet) {
			if first(p) { // RFC 2435 §3.1.8: length 0 means the tables of an earlier frame
				p.Payload[10], p.Payload[11] = 0, 0
			}
		},
		"no size": func(p *rtp.Packet) { p.Payload[6], p.Payload[7] = 0, 0 },
		"cut off": func(p *rtp.Packet) { p.Payload = p.Payload[:5] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cam := &fakeCamera{clip: clip.Load(t, "motion.mjpeg")}
			cam.packets = func(_ int, pkts []*rtp.Packet) []*rtp.Packet {
				for _, p := range pkts {
					p.Payload = append([]byte(nil), p.Payload...)
					change(p)
				}
				return pkts
			}
			cam.start(t)
			cfg := testConfig(cam.url)
			cfg.KeyframeAfter = 500 * time.Millisecond
			r := read(t, cfg)
			s := r.waitState(NoKeyframe)
			require.NotEmpty(t, s.Reason)
			require.Empty(t, r.all())
			require.Zero(t, r.src.Stats().Panics)
		})
	}
}
