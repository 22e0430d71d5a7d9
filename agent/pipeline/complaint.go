package pipeline

import (
	"log/slog"
	"time"
)

// complainEvery bounds the log lines about one camera's undecodable access units.
const complainEvery = time.Minute

// complaint says the same kind of trouble once a minute, with how often it happened.
type complaint struct {
	last time.Time
	more int
}

func (c *complaint) say(log *slog.Logger, what string, err error) {
	c.more++
	if now := time.Now(); now.Sub(c.last) >= complainEvery {
		log.Warn(what, "error", err, "times", c.more)
		c.last, c.more = now, 0
	}
}
