package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/rule"
)

// Look is what a trial makes of one picture.
type Look struct {
	// Waits says that no picture came for a second; then nothing else is set.
	Waits bool `json:"waits,omitempty"`
	// Share is how much of the picture moves, and Least how much of it a thing must be to count:
	// see motion.Activity and motion.LeastShare.
	Share float64 `json:"share"`
	Least float64 `json:"least"`
	// Boxes of what moves: left, top, right, bottom as fractions of the picture.
	Boxes [][4]float64 `json:"boxes,omitempty"`
	// Learning is true for the first second, in which nothing is found.
	Learning bool `json:"learning,omitempty"`
	// Found is what an event would begin of.
	Found []Found `json:"found,omitempty"`
	// Near is what moved too little for the camera's own sensitivity, and NearSince since when that
	// is all, in milliseconds since 1970. They come once, with one of the first looks.
	Near      []Near `json:"near,omitempty"`
	NearSince int64  `json:"nearSince,omitempty"`
}

// Found is the key of the configuration's list, regions, lines or areas, and the id in it of what
// an event would begin of; both are empty for motion anywhere.
type Found struct {
	List string `json:"list"`
	ID   string `json:"id"`
}

// ErrSettings says that settings cannot be tried; what is wrong stands behind it.
var ErrSettings = errors.New("these settings cannot be tried")

// Try has a detector of its own look at what the camera's looks at, with the settings m, and tells
// what it makes of each picture, until ctx is done, the pipeline ends or tell returns an error. No
// event is made of it. tell is called by the caller's goroutine; pictures that come meanwhile are
// left out but for two. While somebody tries, all pictures are decoded. Safe for concurrent use.
func (p *Pipeline) Try(ctx context.Context, m configs.CameraMotion, tell func(Look) error) error {
	detector, err := motion.New(DetectorConfig(m))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSettings, err)
	}
	var watch *rule.Watch
	if rc, ok := RuleConfig(m); ok {
		if watch, err = rule.New(rc); err != nil {
			return fmt.Errorf("%w: %w", ErrSettings, err)
		}
	}
	pictures, done := p.looks.listen()
	defer done()
	wait := time.NewTicker(time.Second)
	defer wait.Stop()
	var things []motion.Thing
	first := true
	for {
		look := Look{Waits: true}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
		case pic, ok := <-pictures:
			if !ok {
				return nil
			}
			wait.Reset(time.Second)
			res := detector.Step(pic)
			look = Look{Share: res.Activity.Share, Least: motion.LeastShare(m.Sensitivity),
				Learning: res.Activity.Learning}
			for _, b := range res.Activity.Boxes {
				look.Boxes = append(look.Boxes, [4]float64{b.Left, b.Top, b.Right, b.Bottom})
			}
			if first {
				if list, since := p.nears.kept(); !since.IsZero() { // something was looked at
					look.Near, look.NearSince, first = list, since.UnixMilli(), false
				}
			}
			look.Found = found(res.Changes)
			if watch != nil {
				things = detector.Things(things[:0])
				look.Found = append(look.Found, crossed(watch.Step(pic, things))...)
			}
		}
		if err := tell(look); err != nil {
			return err
		}
	}
}

func found(changes []motion.Change) (list []Found) {
	for _, c := range changes {
		switch {
		case c.Kind != motion.Began || c.Continued:
		case c.Region == "":
			list = append(list, Found{})
		default:
			list = append(list, Found{"regions", c.Region})
		}
	}
	return list
}

func crossed(changes []rule.Change) (list []Found) {
	for _, c := range changes {
		if c.Kind == rule.Crossed {
			list = append(list, Found{"lines", c.Rule})
		} else if c.Kind.Began() {
			list = append(list, Found{"areas", c.Rule})
		}
	}
	return list
}
