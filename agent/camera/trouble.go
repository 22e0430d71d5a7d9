package camera

import (
	"log/slog"
	"time"
)

// How often trouble of a stream is logged: first after troubleFirst, and half as often after each
// line while it lasts, down to once in troubleMost. A camera whose RTP times are wrong has them
// wrong for years.
const (
	troubleFirst = 10 * time.Second
	troubleMost  = time.Hour
	troubleOver  = 2 * time.Minute // without any, what comes next is logged as the first
)

// troubleLog writes what is wrong with a stream that gives pictures all the same.
type troubleLog struct {
	log  *slog.Logger
	seen Stats     // at the last look
	last time.Time // when there was trouble
	told Stats     // at the last line
	at   time.Time // of the last line
	wait time.Duration
}

func (s Stats) trouble() uint64 {
	return s.LostPackets + s.UnknownLoss + s.DecodeErrors + s.ClampedTimes
}

// look takes what was counted until now.
func (l *troubleLog) look(is Stats, now time.Time) {
	if is.trouble() > l.seen.trouble() {
		if now.Sub(l.last) >= troubleOver {
			l.wait = 0
		}
		l.last = now
	}
	l.seen = is
	if is.trouble() == l.told.trouble() || now.Sub(l.at) < l.wait {
		return
	}
	line := []any{"lost_packets", is.LostPackets - l.told.LostPackets, "breaks", is.UnknownLoss - l.told.UnknownLoss,
		"unreadable_packets", is.DecodeErrors - l.told.DecodeErrors,
		"clamped_times", is.ClampedTimes - l.told.ClampedTimes, "damaged_units", is.Damaged - l.told.Damaged}
	if l.wait > 0 {
		line = append(line, "since_last_line", now.Sub(l.at).Round(time.Second))
	}
	l.told, l.at, l.wait = is, now, min(max(troubleFirst, 2*l.wait), troubleMost)
	l.log.Warn("camera stream has trouble", line...)
}
