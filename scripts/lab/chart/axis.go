package chart

import (
	"fmt"
	"image"
	"time"
)

// timeSteps are the distances of the marks on the time axis.
var timeSteps = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2 * time.Second, 5 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// timeGrid draws the time axis, of about a dozen marks.
func (c Chart) timeGrid(p *canvas, axis int) {
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if c.Length/s <= 15 {
			step = s
			break
		}
	}
	for step*20 < c.Length {
		step *= 2
	}
	for at := time.Duration(0); at <= c.Length; at += step {
		x := c.x(at)
		p.fill(image.Rect(x, plotTop, x+1, axis+6), grid)
		p.text(x, axis+24, clock(at, step, c.Length), p.small, muted, centre)
	}
	unit := "min:s"
	if c.Length >= time.Hour {
		unit = "h:min:s"
	}
	p.text((plotLeft+plotRight)/2, axis+48, "time since the first picture ("+unit+")", p.small, muted, centre)
}

// clock is a time on the axis.
func clock(at, step, length time.Duration) string {
	s := int(at / time.Second)
	text := fmt.Sprintf("%d:%02d", s/60, s%60)
	if length >= time.Hour {
		text = fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	if step < time.Second {
		text += fmt.Sprintf(".%d", at%time.Second/(100*time.Millisecond))
	}
	return text
}

// shareGrid draws the axis of shares: decades.
func (c Chart) shareGrid(p *canvas, y scale) {
	for v := 1.0; v > y.least*0.99; v /= 10 {
		row := y.y(v)
		p.fill(image.Rect(plotLeft-5, row, plotRight, row+1), grid)
		text := percent(v)
		if v < y.least*1.01 {
			text = "≤ " + text
		}
		p.text(plotLeft-10, row+5, text, p.small, muted, right)
	}
	p.upward(62, plotTop+plotHeight/2, "share of the picture that moves", p.small, muted)
}

// percent writes a share of 0..1.
func percent(v float64) string { return fmt.Sprintf("%.3g %%", 100*v) }
