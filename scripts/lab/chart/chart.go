// Package chart draws what was found in a recording for people who tune a camera: how much of the
// picture moves over time against the threshold, the spans beneath, and sample stills with boxes.
// It is given plain values, by vmsbridge replay:
//
//	c := chart.Chart{Title: "yard.mp4", Length: d, Threshold: 0.0004, Activity: &a,
//		Lanes: lanes, Stills: stills}
//	err := c.Encode(w) // PNG
package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"time"
)

// Chart is all that is shown.
type Chart struct {
	Title, Subtitle string
	Length          time.Duration // of the recording
	Threshold       float64       // the share of the picture that counts as motion, 0..1
	Activity        *Activity
	Lanes           []Lane // rows of bars; those of the first are shaded in the curve as well
	Stills          []Still
	Areas           []Area // drawn into the stills
}

// Lane is a row of bars under the curve.
type Lane struct {
	Name   string
	Colour color.NRGBA
	Bars   []Bar
}

// Bar is one span.
type Bar struct {
	Start, End time.Duration
	Faint      bool // shown lighter
}

// Colours of lanes.
var (
	Amber  = color.NRGBA{0xf0, 0x8c, 0x00, 0xff}
	Red    = color.NRGBA{0xd6, 0x28, 0x28, 0xff}
	Indigo = color.NRGBA{0x5b, 0x5f, 0xc7, 0xff}
	// Palette is for regions, used in turn.
	Palette = []color.NRGBA{{0x0c, 0x9f, 0x6e, 0xff}, {0x9b, 0x3f, 0xb5, 0xff}, {0x0e, 0x8f, 0xb8, 0xff},
		{0xb8, 0x5c, 0x1e, 0xff}, {0x6b, 0x8e, 0x23, 0xff}}
)

var (
	white = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	ink   = color.NRGBA{0x1f, 0x29, 0x37, 0xff}
	muted = color.NRGBA{0x5b, 0x64, 0x72, 0xff}
	grid  = color.NRGBA{0xe3, 0xe6, 0xea, 0xff}
	curve = color.NRGBA{0x25, 0x63, 0xeb, 0xff}
	under = color.NRGBA{0xa8, 0xc7, 0xfa, 0xff}
)

// Where things are, in pixels.
const (
	pageWidth  = 1600
	margin     = 48
	plotLeft   = 150
	plotRight  = pageWidth - margin
	plotTop    = 128
	plotHeight = 300
	laneHeight = 30
	maxLanes   = 16
	perRow     = 4
	stillGap   = 20
	stillWidth = (pageWidth - 2*margin - (perRow-1)*stillGap) / perRow
	maxStill   = 420 // height of a still of a tall picture
	captions   = 50
)

// Encode draws the chart and writes it as PNG.
func (c Chart) Encode(w io.Writer) error {
	m, err := c.Draw()
	if err != nil {
		return err
	}
	if err := png.Encode(w, m); err != nil {
		return fmt.Errorf("write chart: %w", err)
	}
	return nil
}

// Draw draws the chart.
func (c Chart) Draw() (image.Image, error) {
	if c.Activity == nil {
		c.Activity = &Activity{}
	}
	c.Length = max(c.Length, c.Activity.last, time.Millisecond)
	lanes := c.Lanes[:min(len(c.Lanes), maxLanes)]
	lanesTop := plotTop + plotHeight + 10
	axis := lanesTop + laneHeight*len(lanes)
	stillsTop := axis + 84
	rows := (len(c.Stills) + perRow - 1) / perRow
	height := stillsTop - 10
	if rows > 0 {
		height = stillsTop + rows*(c.stillHeight()+captions) + margin/2
	}
	p, err := newCanvas(pageWidth, height)
	if err != nil {
		return nil, err
	}
	p.text(margin, 52, shorten(p.title, c.Title, pageWidth-2*margin), p.title, ink, left)
	p.text(margin, 80, shorten(p.plain, c.Subtitle, pageWidth-2*margin), p.plain, muted, left)

	y := c.scale()
	c.timeGrid(p, axis)
	c.shareGrid(p, y)
	c.shade(p)
	c.drawCurve(p, y)
	c.drawThreshold(p, y)
	for i, l := range lanes {
		c.drawLane(p, l, lanesTop+i*laneHeight)
	}
	c.legend(p)
	badges := apart(c.Stills, c.x)
	for i, s := range c.Stills {
		x := c.x(s.At)
		for v := plotTop; v < axis; v += 6 {
			p.fill(image.Rect(x, v, x+1, v+3), muted)
		}
		p.outline([]point{{float64(badges[i]), plotTop - 14}, {float64(x) + 0.5, plotTop}}, 1.2, muted)
		p.badge(badges[i], plotTop-14, strconv.Itoa(i+1), ink)
		c.drawStill(p, i, s, image.Pt(margin+i%perRow*(stillWidth+stillGap),
			stillsTop+i/perRow*(c.stillHeight()+captions)))
	}
	return p.RGBA, nil
}

// x is the column of a time.
func (c Chart) x(at time.Duration) int {
	return plotLeft + int(float64(plotRight-plotLeft-1)*min(1, max(0, float64(at)/float64(c.Length))))
}

// scale maps a share to a row, logarithmically: from a decade or so below the threshold to all of
// the picture.
type scale struct{ least float64 }

func (c Chart) scale() scale {
	least := 1e-4
	for c.Threshold > 0 && least > c.Threshold/2 {
		least /= 10
	}
	return scale{least}
}

func (s scale) y(share float64) int {
	if share <= s.least {
		return plotTop + plotHeight
	}
	return plotTop + int(plotHeight*math.Log(1/min(1, share))/math.Log(1/s.least))
}

// shade marks the spans of the first lane behind the curve.
func (c Chart) shade(p *canvas) {
	if len(c.Lanes) == 0 {
		return
	}
	for _, b := range c.Lanes[0].Bars {
		col := c.Lanes[0].Colour
		col.A = 0x2c
		p.fill(image.Rect(c.x(b.Start), plotTop, max(c.x(b.Start)+2, c.x(b.End)+1), plotTop+plotHeight), col)
	}
}

func (c Chart) drawCurve(p *canvas, y scale) {
	before := plotTop + plotHeight
	span := float64(c.Length) / float64(plotRight-plotLeft-1)
	for x := plotLeft; x < plotRight; x++ {
		from := time.Duration(float64(x-plotLeft) * span)
		v := c.Activity.most(from, from+time.Duration(span))
		bottom := plotTop + plotHeight
		if v < 0 {
			before = bottom
			continue
		}
		top := y.y(v)
		fill := under
		fill.A = 0xb0
		p.fill(image.Rect(x, top, x+1, bottom), fill)
		p.fill(image.Rect(x, min(top, before), x+1, min(bottom, max(top+2, before))), curve)
		before = top
	}
	p.fill(image.Rect(plotLeft, plotTop+plotHeight, plotRight, plotTop+plotHeight+1), muted)
}

func (c Chart) drawThreshold(p *canvas, y scale) {
	if c.Threshold <= 0 {
		return
	}
	row := y.y(c.Threshold)
	for x := plotLeft; x < plotRight; x += 12 {
		p.fill(image.Rect(x, row-1, min(x+7, plotRight), row+1), Red)
	}
}

func (c Chart) drawLane(p *canvas, l Lane, top int) {
	p.text(plotLeft-12, top+20, shorten(p.small, l.Name, plotLeft-24), p.small, ink, right)
	p.fill(image.Rect(plotLeft, top+14, plotRight, top+15), grid)
	for _, b := range l.Bars {
		col := l.Colour
		if b.Faint {
			col.A = 0x50
		}
		x := c.x(b.Start)
		p.fill(image.Rect(x, top+6, max(x+3, c.x(b.End)+1), top+24), col)
	}
}

// legend says what the curve and the lines are.
func (c Chart) legend(p *canvas) {
	x := plotRight
	for _, e := range []struct {
		text string
		draw func(x, y int)
	}{
		{fmt.Sprintf("threshold: %s of the picture", percent(c.Threshold)), func(x, y int) {
			p.fill(image.Rect(x, y-6, x+7, y-4), Red)
			p.fill(image.Rect(x+12, y-6, x+19, y-4), Red)
		}},
		{"share of the picture that moves", func(x, y int) {
			p.fill(image.Rect(x, y-10, x+20, y+1), under)
			p.fill(image.Rect(x, y-11, x+20, y-9), curve)
		}},
	} {
		x -= width(p.small, e.text)
		p.text(x, 80+22-2, e.text, p.small, muted, left)
		x -= 28
		e.draw(x, 80+22-2)
		x -= 24
	}
}
