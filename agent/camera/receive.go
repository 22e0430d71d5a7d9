package camera

import (
	"strings"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"vmsbridge/agent/camera/unit"
)

// unknownLoss is a gap in the sequence numbers too large to be loss: doubled or reordered packets,
// or a restart.
const unknownLoss = 1000

// onPacket is called for every RTP packet of the stream, mu held.
func (s *session) onPacket(p *rtp.Packet) {
	s.strangers = 0
	s.ssrc = p.SSRC
	s.packets++
	at, step := s.clock.Now()
	if step == unit.SetBack {
		s.fail(&Failure{State: Disconnected, immediate: true,
			Reason: "This machine's clock was set back. The stream is started anew."})
		s.floor = 0
		return
	}
	s.asm.Add(p, at, step)
}

// onLost is told of lost packets, mu held. They belong before the packet that comes next.
func (s *session) onLost(n uint64) {
	if n > unknownLoss {
		s.stats.unknownLoss.Add(1)
	} else {
		s.stats.lost.Add(n)
	}
	if s.asm != nil {
		s.asm.Lost()
	}
}

// onDecodeError is told of packets that the RTSP client refused, mu held. It refuses every packet
// of a new SSRC for ever, while the session seems alive.
func (s *session) onDecodeError(err error) {
	s.stats.decodeErrors.Add(1)
	s.lastErr = err.Error()
	if !strings.Contains(s.lastErr, "wrong SSRC") {
		return
	}
	if s.strangers++; s.strangers >= wrongSSRC {
		s.fail(&Failure{State: Disconnected, immediate: true, cause: err,
			Reason: "The camera restarted its stream within the session. It is connected again."})
	}
}

// onRTCP is called for every RTCP packet, mu held.
func (s *session) onRTCP(p rtcp.Packet) {
	switch p := p.(type) {
	case *rtcp.SenderReport:
		if s.lastTime == 0 || p.SSRC != s.ssrc {
			return
		}
		if ahead, ok := cameraClock(p, s.lastRTP, s.lastTime); ok {
			s.stats.cameraClock.Store(int64(ahead))
			s.stats.hasClock.Store(true)
		}
	case *rtcp.Goodbye:
		for _, src := range p.Sources {
			if src == s.ssrc || s.packets == 0 {
				s.fail(&Failure{State: Disconnected, immediate: true,
					Reason: "The camera ended the stream. It is connected again."})
				return
			}
		}
	}
}

// onCoded takes a picture from the assembler, mu held.
func (s *session) onCoded(c unit.Coded) {
	now := time.Now()
	if s.pictures++; s.pictures > 1 {
		s.longest = max(s.longest, now.Sub(s.lastAt))
	}
	s.lastAt = now
	u, ok := s.build.Build(c)
	s.floor = max(s.floor, s.build.Newest())
	if !ok {
		return
	}
	s.lastRTP, s.lastTime = c.RTP, u.Time.UnixNano()
	s.stats.units.Add(1)
	s.stats.bytes.Add(uint64(len(u.Data)))
	s.stats.lastUnit.Store(s.lastTime)
	if u.RandomAccess {
		s.stats.random.Add(1)
	}
	switch {
	case !u.Damaged:
		s.badSince = time.Time{}
	case s.badSince.IsZero():
		s.badSince = now
	}
	if u.Damaged {
		s.stats.damaged.Add(1)
	}
	if !s.wasOnline || s.info.state != Online && !u.Damaged || s.info.width != u.Width || s.info.height != u.Height {
		s.wasOnline = true
		s.info.state, s.info.reason, s.info.width, s.info.height = Online, "", u.Width, u.Height
		s.onInfo(s.info)
	}
	s.onUnit(u)
}
