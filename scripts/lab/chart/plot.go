package chart

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// columns is how many values of the curve are drawn: about one a pixel.
const columns = 1400

// lane is the height of a lane where that of the curve is 1.
const lane = float64(laneHeight) / plotHeight

// plot is the curve above the lanes. Its x is in seconds; its y is 0 to 1 for the curve, on a
// logarithmic scale, and less than 0 for the lanes.
func (c Chart) plot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, c.Length.Seconds(), -lane*float64(len(c.Lanes)), 1
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Label.Text = "time since the first picture (min:s)"
	if c.Length >= time.Hour {
		p.X.Label.Text = "time since the first picture (h:min:s)"
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = style(14, font.Font{}, muted).Font, muted
		a.Tick.Label.Font, a.Tick.Label.Color = style(14, font.Font{}, muted).Font, muted
		a.LineStyle.Color, a.Tick.LineStyle.Color = muted, grid
	}
	p.X.Tick.Marker = plot.ConstantTicks(timeTicks(c.Length))
	least := c.least()
	var marks plot.ConstantTicks
	for v := 1.0; v > least*0.99; v /= 10 {
		label := percent(v)
		if v < least*1.01 {
			label = "≤ " + label
		}
		marks = append(marks, plot.Tick{Value: height(v, least), Label: label})
	}
	lines := plotter.NewGrid()
	lines.Horizontal.Color, lines.Vertical.Color = grid, grid
	p.Add(lines)
	for i, l := range c.Lanes {
		middle := -lane * (float64(i) + 0.5)
		marks = append(marks, plot.Tick{Value: middle, Label: shorten(p.Y.Tick.Label, l.Name, 96)})
		for _, b := range l.Bars {
			if i == 0 {
				p.Add(bar{b, 0, 1, fade(l.Colour, 0x2c)})
			}
			colour := l.Colour
			if b.Faint {
				colour = fade(colour, 0x50)
			}
			p.Add(bar{b, middle - lane*0.3, middle + lane*0.3, colour})
		}
	}
	p.Y.Tick.Marker = marks
	c.drawCurve(p, least)
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = style(14, font.Font{}, muted).Font, muted
	p.Legend.Top, p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = true, 6, -8, -8
	p.Add(numbers(c.Stills))
	return p
}

// least is the share at the foot of the curve: a decade or so below the threshold.
func (c Chart) least() float64 {
	least := 1e-4
	for c.Threshold > 0 && least > c.Threshold/2 {
		least /= 10
	}
	return least
}

// height is where a share is on the curve's scale, 0 to 1.
func height(share, least float64) float64 {
	return 1 - math.Log(min(1, max(least, share)))/math.Log(least)
}

// drawCurve adds the share that moves, a piece for each time with pictures, and the threshold.
func (c Chart) drawCurve(p *plot.Plot, least float64) {
	area := plotter.Polygon{Color: fade(under, 0xb0)}
	line := plotter.Line{LineStyle: draw.LineStyle{Color: curve, Width: 2}}
	var piece plotter.XYs
	end := func() {
		if n := len(piece); n > 0 {
			shape := append(plotter.XYs{{X: piece[0].X}}, piece...)
			p.Add(&plotter.Polygon{XYs: []plotter.XYs{append(shape, plotter.XY{X: piece[n-1].X})}, Color: area.Color},
				&plotter.Line{XYs: piece, LineStyle: line.LineStyle})
		}
		piece = nil
	}
	step := c.Length / columns
	for i := range columns {
		from := time.Duration(i) * c.Length / columns
		v := c.Activity.most(from, from+max(step, 1))
		if v < 0 {
			end()
			continue
		}
		piece = append(piece, plotter.XY{X: from.Seconds(), Y: height(v, least)})
	}
	end()
	p.Legend.Add("share of the picture that moves", &area, &line)
	if c.Threshold > 0 {
		y := height(c.Threshold, least)
		at := &plotter.Line{XYs: plotter.XYs{{X: 0, Y: y}, {X: c.Length.Seconds(), Y: y}},
			LineStyle: draw.LineStyle{Color: Red, Width: 2, Dashes: []vg.Length{7, 5}}}
		p.Add(at)
		p.Legend.Add(fmt.Sprintf("threshold: %s of the picture", percent(c.Threshold)), at)
	}
}

// bar draws a span, two pixels wide at the least.
type bar struct {
	Bar
	low, high float64
	colour    color.Color
}

// Plot implements plot.Plotter.
func (b bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	from, to := max(c.Min.X, x(b.Start.Seconds())), min(c.Max.X, x(b.End.Seconds()))
	to = max(to, from+2)
	c.FillPolygon(b.colour, []vg.Point{{X: from, Y: y(b.low)}, {X: to, Y: y(b.low)}, {X: to, Y: y(b.high)},
		{X: from, Y: y(b.high)}})
}

// numbers draws the number of each still above its time.
type numbers []Still

// Plot implements plot.Plotter.
func (n numbers) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	times := make([]vg.Length, len(n))
	for i, s := range n {
		times[i] = min(toX(s.At.Seconds()), c.Max.X)
	}
	for i, x := range apart(times, c.Max.X) {
		dashed := draw.LineStyle{Color: muted, Width: 1, Dashes: []vg.Length{3, 3}}
		c.StrokeLine2(dashed, times[i], c.Min.Y, times[i], c.Max.Y)
		c.StrokeLine2(draw.LineStyle{Color: muted, Width: 1}, times[i], c.Max.Y, x, c.Max.Y+badge)
		number(c, vg.Point{X: x, Y: c.Max.Y + badge}, i)
	}
}

// GlyphBoxes implements plot.GlyphBoxer: it keeps room for the numbers above the plot.
func (n numbers) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: 2*badge + 4}}}}
}

// badge is how far the number of a still is from what it belongs to, in pixels.
const badge = 14

// number draws the number of still i in a filled circle.
func number(c draw.Canvas, at vg.Point, i int) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: 11, Shape: draw.CircleGlyph{}}, at)
	s := style(14, font.Font{}, color.White)
	s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
	c.FillText(s, at, strconv.Itoa(i+1))
}

// apart are the places of the stills' numbers: above their times, or beside them where they would
// hide each other. Times rise.
func apart(times []vg.Length, last vg.Length) []vg.Length {
	const width = 24
	at := append([]vg.Length(nil), times...)
	for i := 1; i < len(at); i++ {
		at[i] = max(at[i], at[i-1]+width)
	}
	for i := len(at) - 1; i >= 0 && at[i] > last; i-- {
		at[i], last = last, last-width
	}
	return at
}

// timeSteps are the distances of the marks on the time axis.
var timeSteps = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// timeTicks are about a dozen marks, as people write times.
func timeTicks(length time.Duration) (ticks []plot.Tick) {
	step := timeSteps[len(timeSteps)-1]
	for i := len(timeSteps) - 1; i >= 0 && length/timeSteps[i] <= 15; i-- {
		step = timeSteps[i]
	}
	for step*20 < length {
		step *= 2
	}
	for at := time.Duration(0); at <= length; at += step {
		s := int(at / time.Second)
		label := fmt.Sprintf("%d:%02d", s/60, s%60)
		if length >= time.Hour {
			label = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
		}
		if step < time.Second {
			label += fmt.Sprintf(".%d", at%time.Second/(100*time.Millisecond))
		}
		ticks = append(ticks, plot.Tick{Value: at.Seconds(), Label: label})
	}
	return ticks
}

// percent writes a share of 0..1.
func percent(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }

// fade is a colour through which the page is seen.
func fade(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}
