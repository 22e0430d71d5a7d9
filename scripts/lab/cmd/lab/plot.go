package main

import (
	"cmp"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/cmd/vmsbridge/replay"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/motion"
	"vmsbridge/scripts/lab/chart"
	"vmsbridge/uplink/vms"
)

const (
	stillWidthPx = 480 // of the sample stills that are kept
	keptStills   = 48  // of which some are shown
	shownStills  = 8
)

// plot collects what the plot shows, in bounded memory but for the spans.
type plot struct {
	recording *replay.Recording
	activity  chart.Activity
	at        []time.Duration // of every picture, for the labels
	events    []replay.Event
	view      chart.Still // the picture in which tampering was confirmed
	sights    sights      // for the span that is, or comes, open
	first     chart.Still // for a recording without any span
	most      candidate   // likewise: the picture in which most moves
	stills    []chart.Still
	every     int // of the spans gives a still; doubled when there are too many
	spans     int // of which stills could be kept
}

func newPlot(r *replay.Recording) *plot { return &plot{recording: r, every: 1} }

// picture takes what one picture showed.
func (p *plot) picture(pic footage.Picture, s replay.Seen) {
	p.at = append(p.at, pic.At)
	if !s.Looked {
		return
	}
	share := s.Result.Activity.Share
	p.activity.Add(pic.At, share)
	for _, c := range s.Result.Changes {
		if c.Kind == motion.Began && c.Region == "" && !c.Continued {
			p.sights.begin(p.recording.Watch.Offset(c.Start))
		}
	}
	if p.first.Luma == nil {
		p.first = p.still(pic, nil)
	}
	if s.Tampered {
		p.view = p.still(pic, nil)
	}
	if !p.sights.wants(share) {
		return
	}
	c := candidate{p.still(pic, replay.Corners(s.Result.Activity.Boxes)), share}
	p.sights.add(c)
	if share > p.most.share {
		p.most = c
	}
}

// still keeps a picture, smaller, and what moves in it.
func (p *plot) still(pic footage.Picture, boxes [][4]float64) chart.Still {
	w, h := planar.FitWidth(pic.Image.Width, pic.Image.Height, stillWidthPx)
	s := chart.Still{At: pic.At, Boxes: boxes, Moving: make([]byte, w*h),
		Luma: &image.Gray{Pix: planar.Luma(pic.Image, w, h), Stride: w, Rect: image.Rect(0, 0, w, h)}}
	p.recording.Watch.Silhouette(s.Moving, w, h)
	return s
}

// event takes a span that ended, and the best picture of it.
func (p *plot) event(ev replay.Event) {
	p.events = append(p.events, ev)
	switch {
	case ev.Type == vms.TypeTamper:
		p.keep(p.view, ev, fmt.Sprintf("%.1f s; shown: picture at %s", (ev.End.At-ev.Start.At).Seconds(),
			replay.Clock(p.view.At)))
		p.view = chart.Still{}
	case ev.Region == "":
		s := p.sights.end(ev.End.At)
		p.keep(s, ev, fmt.Sprintf("%.1f s, up to %s moves; shown: picture at %s", (ev.End.At-ev.Start.At).Seconds(),
			replay.Share(ev.Share), replay.Clock(s.At)))
	}
}

// keep keeps a still of a span: of every one, of every second when there are too many, and so on.
func (p *plot) keep(s chart.Still, ev replay.Event, caption string) {
	if p.spans++; s.Luma == nil || (p.spans-1)%p.every != 0 {
		return
	}
	if len(p.stills) == keptStills {
		for i := range keptStills / 2 {
			p.stills[i] = p.stills[2*i]
		}
		p.stills, p.every = p.stills[:keptStills/2], 2*p.every
	}
	s.Caption = [2]string{fmt.Sprintf("%s – %s  %s", replay.Clock(ev.Start.At), replay.Clock(ev.End.At),
		replay.Kind(ev)), caption}
	p.stills = append(p.stills, s)
}

// write draws the plot.
func (p *plot) write(path string) error {
	r := p.recording
	c := chart.Chart{Title: filepath.Base(r.File), Subtitle: p.subtitle(r), Length: r.Length,
		Threshold: p.recording.Watch.Threshold(), Activity: &p.activity,
		Lanes: p.lanes(r), Stills: p.chosen(), Areas: p.areas(r)}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := c.Encode(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func (p *plot) subtitle(r *replay.Recording) string {
	parts := []string{fmt.Sprintf("%dx%d", r.Size.X, r.Size.Y)}
	if r.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.4g pictures/s", r.Rate))
	}
	m := r.Settings.Motion
	parts = append(parts, replay.Clock(r.Length), replay.Counted(len(p.events), "span"), r.Camera,
		fmt.Sprintf("sensitivity %g, %g pictures/s looked at", m.Sensitivity, r.Settings.Rate))
	return strings.Join(parts, "  ·  ")
}

// lanes are the spans of the whole picture, of each region, and the labels.
func (p *plot) lanes(r *replay.Recording) []chart.Lane {
	lanes := []chart.Lane{{Name: "motion", Colour: chart.Amber}}
	region := map[string]int{}
	for i, g := range r.Settings.Motion.Regions {
		region[g.ID] = len(lanes)
		lanes = append(lanes, chart.Lane{Name: cmp.Or(g.Name, g.ID), Colour: chart.Palette[i%len(chart.Palette)]})
	}
	tamper := chart.Lane{Name: "tamper", Colour: chart.Red}
	for _, ev := range p.events {
		bar := chart.Bar{Start: ev.Start.At, End: ev.End.At}
		switch ev.Type {
		case vms.TypeMotion:
			lanes[0].Bars = append(lanes[0].Bars, bar)
		case vms.TypeMotionInRegion:
			i := region[ev.Region]
			lanes[i].Bars = append(lanes[i].Bars, bar)
		default:
			tamper.Bars = append(tamper.Bars, bar)
		}
	}
	if len(tamper.Bars) > 0 {
		lanes = append(lanes, tamper)
	}
	if r.Labels != nil {
		l := chart.Lane{Name: "labelled", Colour: chart.Indigo}
		for _, b := range r.Labels {
			if b.Kind != replay.Quiet && b.Start < len(p.at) {
				l.Bars = append(l.Bars, chart.Bar{Start: p.at[b.Start], End: p.at[min(b.End, len(p.at)-1)],
					Faint: b.Kind != replay.Motion})
			}
		}
		lanes = append(lanes, l)
	}
	return lanes
}

func (p *plot) areas(r *replay.Recording) []chart.Area {
	var areas []chart.Area
	for _, m := range r.Settings.Motion.Masks {
		areas = append(areas, chart.Area{Corners: m, Mask: true})
	}
	for i, g := range r.Settings.Motion.Regions {
		areas = append(areas, chart.Area{Corners: g.Area, Colour: chart.Palette[i%len(chart.Palette)]})
	}
	return areas
}

// chosen are the stills that are shown, spread over the recording.
func (p *plot) chosen() []chart.Still {
	if len(p.stills) == 0 {
		if p.first.Luma == nil {
			return nil
		}
		s := p.first
		s.Caption = [2]string{"no span", "shown: the first picture"}
		if p.most.share > 0 {
			s = p.most.still
			s.Caption = [2]string{"no span", "shown: the picture in which most moves, at " + replay.Clock(s.At)}
		}
		return []chart.Still{s}
	}
	n := min(len(p.stills), shownStills)
	var out []chart.Still
	for i := range n {
		out = append(out, p.stills[i*len(p.stills)/n])
	}
	slices.SortFunc(out, func(a, b chart.Still) int { return cmp.Compare(a.At, b.At) })
	return out
}
