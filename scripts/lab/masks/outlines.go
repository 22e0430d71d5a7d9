package masks

import (
	"time"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/pipeline"
	"vmsbridge/motion"
	"vmsbridge/scripts/lab/contour"
)

// finePixels is how many pixels of a picture outlines are drawn in, at most: 720x576. Those of
// larger pictures are scaled up.
const finePixels = 720 * 576

// Pictures that are further apart than rare are told to the detector of masks as if they were no
// further apart than rarely: what drives past is in two or three of them, and a detector that waits
// to see something move for some tenths of a second, or begins anew after a long pause, would have
// no masks of it at all.
const (
	rare   = 350 * time.Millisecond
	rarely = 100 * time.Millisecond
)

// epoch stands for the time of the first picture.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// told is how much later than the picture before one is for the detector.
func told(d time.Duration) time.Duration {
	if d > rare {
		return rarely
	}
	return d
}

// Outlines makes the masks of every picture: what the detector marks, pixel by pixel.
type Outlines struct {
	detector      *motion.Detector
	contour       *contour.Contour
	seen, clock   time.Time // of the newest picture: its own time, and as the detector is told it
	width, height int       // of mask
	seeds, mask   []byte    // of the newest picture
}

// NewOutlines has a detector of its own, which looks at every picture, whatever the rate.
func NewOutlines(c motion.Config) (*Outlines, error) {
	d, err := motion.New(c)
	if err != nil {
		return nil, err
	}
	return &Outlines{detector: d, contour: contour.New(), seen: epoch, clock: epoch}, nil
}

// Look makes the mask of a picture, which is shown at a time since the first.
func (o *Outlines) Look(m planar.Image, at time.Duration) {
	width, height := planar.Fit(m.Width, m.Height, pipeline.LumaPixels)
	reduced := motion.Picture{Luma: planar.Luma(m, width, height), Width: width, Height: height, Stride: width,
		Time: epoch.Add(at)}
	o.clock, o.seen = o.clock.Add(told(reduced.Time.Sub(o.seen))), reduced.Time
	reduced.Time = o.clock
	o.detector.Step(reduced)
	o.width, o.height = planar.Fit(m.Width, m.Height, finePixels)
	if n := o.width * o.height; len(o.mask) != n {
		o.seeds, o.mask = make([]byte, n), make([]byte, n)
	}
	o.detector.ActivityMask(o.seeds, o.width, o.height)
	dx, dy := o.detector.Shake()
	o.contour.Trace(contour.Picture{Luma: planar.Luma(m, o.width, o.height), Width: o.width, Height: o.height,
		Stride: o.width, Time: reduced.Time,
		ShiftX: dx * float64(o.width), ShiftY: dy * float64(o.height)}, o.seeds, o.mask)
}

// Write scales the newest mask to a size, row after row into dst, which has room: 255 where most of
// what a pixel lies between is marked, 0 elsewhere.
func (o *Outlines) Write(dst []byte, width, height int) {
	if width == o.width && height == o.height {
		copy(dst, o.mask)
		return
	}
	if len(o.mask) == 0 {
		clear(dst[:width*height])
		return
	}
	// Places are in 1/256 pixels of the mask, from the middle of its first one.
	at := func(i, n, of int) (a, b, part int) {
		v := max(0, ((2*i+1)*256*of/n-256)/2)
		a = min(v>>8, of-1)
		return a, min(a+1, of-1), v & 255
	}
	for y := range height {
		y0, y1, fy := at(y, height, o.height)
		up, low, row := o.mask[y0*o.width:][:o.width], o.mask[y1*o.width:][:o.width], dst[y*width:][:width]
		for x := range row {
			x0, x1, fx := at(x, width, o.width)
			sum := (int(up[x0])*(256-fx)+int(up[x1])*fx)*(256-fy) + (int(low[x0])*(256-fx)+int(low[x1])*fx)*fy
			row[x] = 0
			if sum >= 255<<15 {
				row[x] = 255
			}
		}
	}
}
