package camera

import (
	"sync/atomic"
	"time"

	"vmsbridge/agent/camera/unit"
)

// counters are counted by the reader and read by anyone.
type counters struct {
	built                                                                              unit.Counts
	units, bytes, random, damaged, lost, unknownLoss, decodeErrors, reconnects, panics atomic.Uint64

	lastUnit    atomic.Int64 // ns since 1970
	cameraClock atomic.Int64 // ns that the camera's clock is ahead of ours
	hasClock    atomic.Bool
}

// Stats is what a Source has seen since New.
type Stats struct {
	Units        uint64 // access units handed to OnUnit
	Bytes        uint64 // of these
	RandomAccess uint64 // how many of these can be decoded alone
	Damaged      uint64 // how many of these depend on lost data
	Held         uint64 // coded pictures not handed on: before the first random access point, or unusable
	LostPackets  uint64 // RTP packets that never came
	UnknownLoss  uint64 // breaks in the sequence numbers of unknown size: doubled, reordered or restarted
	DecodeErrors uint64 // packets that could not be understood
	ClampedTimes uint64 // pictures whose RTP time was not believed
	Reanchored   uint64 // times that the relation of RTP time to the clock had to be made anew
	Reconnects   uint64 // sessions after the first
	Panics       uint64 // bugs caught while handling this camera

	LastUnit time.Time // capture time of the newest unit, zero before the first
	// CameraClock is how far the camera's own clock is ahead of this machine's, by its RTCP sender
	// reports; it is known only after the first one. Nothing here depends on it.
	CameraClock      time.Duration
	CameraClockKnown bool
}

func (c *counters) snapshot() Stats {
	s := Stats{
		Units: c.units.Load(), Bytes: c.bytes.Load(), RandomAccess: c.random.Load(), Damaged: c.damaged.Load(),
		Held:        c.built.Held.Load(),
		LostPackets: c.lost.Load(), UnknownLoss: c.unknownLoss.Load(), DecodeErrors: c.decodeErrors.Load(),
		ClampedTimes: c.built.Clamped.Load(),
		Reanchored:   c.built.Reanchored.Load(), Reconnects: c.reconnects.Load(), Panics: c.panics.Load(),
		CameraClock: time.Duration(c.cameraClock.Load()), CameraClockKnown: c.hasClock.Load(),
	}
	if at := c.lastUnit.Load(); at != 0 {
		s.LastUnit = time.Unix(0, at).UTC()
	}
	return s
}
