package rule

import (
	"errors"
	"fmt"
	"math"
	"time"

	"vmsbridge/motion"
)

// Direction is a way across a line. Seen along the line from its first point to its last, side a is
// on the left and side b on the right: of a line drawn from left to right, a is above and b below.
type Direction string

// The ways across a line; Any is of a Line only.
const (
	Any  Direction = "any"
	AToB Direction = "a-to-b"
	BToA Direction = "b-to-a"
)

// Line is what things cross.
type Line struct {
	ID, Name string // the ID comes back in Change.Rule
	// Points are the ends and corners, {x, y} in fractions 0..1 of the picture's width and height;
	// two at least.
	Points [][2]float64
	// Direction is the way that counts; "" is Any.
	Direction Direction
}

// Area is where things may not be, or not for long.
type Area struct {
	ID, Name string // the ID comes back in Change.Rule
	Outline  motion.Polygon
	// Intrusion wants a span while something is inside.
	Intrusion bool
	// Loiter wants a span from when one thing has been inside for so long; 0: none.
	Loiter time.Duration
}

// Config is the lines and areas of one camera.
type Config struct {
	Lines []Line
	Areas []Area
}

// least is the shortest part of a line, in fractions of the picture's height: one cell.
const least = 0.01

// Validate reports all problems of c, joined; nil means that New accepts it.
func (c Config) Validate() error {
	var errs []error
	seen := map[string]bool{}
	name := func(what string, i int, id string) string {
		switch {
		case id == "":
			errs = append(errs, fmt.Errorf("check %s %d: it has no id", what, i+1))
		case seen[what+id]:
			errs = append(errs, fmt.Errorf("check %s %d: the id %q is there twice", what, i+1, id))
		}
		seen[what+id] = true
		return fmt.Sprintf("check %s %d (%q)", what, i+1, id)
	}
	for i, l := range c.Lines {
		where := name("line", i, l.ID)
		if err := l.validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
		}
	}
	for i, a := range c.Areas {
		where := name("area", i, a.ID)
		if err := a.Outline.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
		}
		if a.Loiter < 0 {
			errs = append(errs, fmt.Errorf("%s: loiter %v is negative", where, a.Loiter))
		}
	}
	return errors.Join(errs...)
}

func (l Line) validate() error {
	if len(l.Points) < 2 {
		return fmt.Errorf("a line needs at least 2 points, this one has %d", len(l.Points))
	}
	for i, p := range l.Points {
		for _, v := range p {
			if math.IsNaN(v) || v < 0 || v > 1 {
				return fmt.Errorf("point %d (%v, %v) is outside 0..1", i+1, p[0], p[1])
			}
		}
		if i > 0 && math.Hypot(p[0]-l.Points[i-1][0], p[1]-l.Points[i-1][1]) < least {
			return fmt.Errorf("points %d and %d are the same", i, i+1)
		}
	}
	switch l.Direction {
	case "", Any, AToB, BToA:
		return nil
	}
	return fmt.Errorf("the direction %q is none of any, a-to-b, b-to-a", l.Direction)
}
