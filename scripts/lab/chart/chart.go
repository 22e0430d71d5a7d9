// Package chart draws what was found in a recording for people who tune a camera: how much of the
// picture moves over time against the threshold, the spans beneath, and sample stills with boxes.
// It is given plain values, by lab replay, and drawn by gonum.org/v1/plot:
//
//	c := chart.Chart{Title: "yard.mp4", Length: d, Threshold: 0.0004, Activity: &a,
//		Lanes: lanes, Stills: stills}
//	err := c.Encode(w) // PNG
package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"time"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
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
	ink   = color.NRGBA{0x1f, 0x29, 0x37, 0xff}
	muted = color.NRGBA{0x5b, 0x64, 0x72, 0xff}
	grid  = color.NRGBA{0xe3, 0xe6, 0xea, 0xff}
	curve = color.NRGBA{0x25, 0x63, 0xeb, 0xff}
	under = color.NRGBA{0xa8, 0xc7, 0xfa, 0xff}
)

// How large things are, in pixels.
const (
	pageWidth  = 1600
	margin     = 48
	plotTop    = 88
	plotHeight = 300 // of the curve
	plotRest   = 110 // the axis with its name, and the stills' numbers
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
	if err := png.Encode(w, c.Draw()); err != nil {
		return fmt.Errorf("write chart: %w", err)
	}
	return nil
}

// Draw draws the chart.
func (c Chart) Draw() image.Image {
	if c.Activity == nil {
		c.Activity = &Activity{}
	}
	c.Length = max(c.Length, c.Activity.last, time.Millisecond)
	c.Lanes = c.Lanes[:min(len(c.Lanes), maxLanes)]
	stillsTop := plotTop + plotHeight + plotRest + laneHeight*len(c.Lanes)
	rows := (len(c.Stills) + perRow - 1) / perRow
	canvas := vgimg.NewWith(vgimg.UseDPI(72), // a point is a pixel
		vgimg.UseWH(pageWidth, vg.Length(stillsTop+rows*(c.stillHeight()+captions)+margin/2)))
	p := page{vgdraw.New(canvas), canvas.Image()}
	p.write(26, font.Font{Weight: bold}, ink, margin, 52, pageWidth-2*margin, c.Title)
	p.write(16, font.Font{}, muted, margin, 80, pageWidth-2*margin, c.Subtitle)
	c.plot().Draw(vgdraw.Crop(p.Canvas, margin, -margin, p.Max.Y-vg.Length(stillsTop-24), -plotTop))
	for i, s := range c.Stills {
		c.drawStill(p, i, s, image.Pt(margin+i%perRow*(stillWidth+stillGap),
			stillsTop+i/perRow*(c.stillHeight()+captions)))
	}
	return p.image
}

const bold = xfont.WeightBold

// page is a canvas whose points are an image's pixels; its rows count from the bottom.
type page struct {
	vgdraw.Canvas
	image draw.Image
}

// at is where a pixel is on the canvas.
func (p page) at(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: p.Max.Y - vg.Length(y)} }

// style is how a text is written; size in pixels.
func style(size float64, f font.Font, colour color.Color) text.Style {
	f.Typeface, f.Variant, f.Size = "Liberation", "Sans", vg.Length(size)
	return text.Style{Color: colour, Font: f, Handler: plot.DefaultTextHandler}
}

// write writes a line from x on with its base line at y, cut to a width.
func (p page) write(size float64, f font.Font, colour color.Color, x, y, most int, words string) {
	s := style(size, f, colour)
	p.FillText(s, p.at(float64(x), float64(y)), shorten(s, words, vg.Length(most)))
}

// shorten cuts a text to a width.
func shorten(s text.Style, words string, most vg.Length) string {
	if s.Width(words) <= most {
		return words
	}
	r := []rune(words)
	for len(r) > 1 && s.Width(string(r)+"…") > most {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}
