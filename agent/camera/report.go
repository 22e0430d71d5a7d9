package camera

import (
	"math"
	"time"

	"github.com/pion/rtcp"

	"vmsbridge/agent/camera/unit"
)

// senderTime converts the 64-bit NTP time of an RTCP sender report (RFC 3550 §4: seconds since
// 1900, 32-bit fraction). gortsplib v4 takes the fraction for nanoseconds and is up to 3.3 s wrong,
// so its PacketNTP is not used.
func senderTime(ntp uint64) time.Time {
	const between1900And1970 = 2208988800
	nanos := (ntp & math.MaxUint32) * uint64(time.Second) >> 32
	return time.Unix(int64(ntp>>32)-between1900And1970, int64(nanos))
}

// cameraClock compares a sender report with when we placed the picture with the RTP time lastRTP.
// Reports that are not near that picture (VLC sends RTP time 0) tell nothing.
func cameraClock(sr *rtcp.SenderReport, lastRTP uint32, lastAt int64) (ahead time.Duration, ok bool) {
	ticks := int64(int32(sr.RTPTime - lastRTP))
	if sr.NTPTime == 0 || ticks > 60*unit.TickRate || ticks < -60*unit.TickRate {
		return 0, false
	}
	return senderTime(sr.NTPTime).Sub(time.Unix(0, lastAt+unit.TickNanos(ticks))), true
}
