package pipeline

import (
	"log/slog"
	"sync/atomic"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
)

// Deps are what all pipelines share. All fields but the last four are needed.
type Deps struct {
	// Now is the time on the scale that all times of a pipeline are of. It never steps; Ring and
	// Out know the true times.
	Now     func() time.Time
	Ring    Ring
	Out     Outlet
	Pool    *codec.Pool
	Metrics *Metrics
	Cameras *camera.Metrics
	Log     *slog.Logger
	Account string // that the cameras belong to
	Pace    *Pace  // of the stills; may be set anew at any time
	Version string // of the program, for the events
	Base    string // of image addresses
	Gate    bool   // groups of pictures stay undecoded where their sizes show that nothing moves
	Economy bool   // the same where the keyframes around them show the same, whatever their sizes
	// Late is one for all cameras. Nil: each has its own.
	Late *Late
	// Resume is the state in which a camera was when the bridge stopped, given once. later says
	// that it is not known yet; only one who waits is told so. Nil: none is known.
	Resume func(camera string, waits bool) (r Resumed, ok, later bool)
	// Disarmed is whether a camera is disarmed, now and later. Nil: none ever is.
	Disarmed func(camera string) *atomic.Bool
	// Stays says that the bridge stops and lets its cameras' states go on. Nil: they end.
	Stays func() bool
}
