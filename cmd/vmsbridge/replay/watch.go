package replay

import (
	"fmt"
	"sort"
	"time"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/pipeline"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/motion"
	"vmsbridge/motion/rule"
	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

// Settings of a Watch.
type Settings struct {
	Motion motion.Config
	// Rate is how many pictures a second are looked at, at most; 0 for all.
	Rate float64
	// Tamper is what to look for in the view as a whole; nil for nothing.
	Tamper *tamper.Config
	// Rules are lines and areas to hold against the ways of things; nil for none.
	Rules *rule.Config
}

// Event is a span, with its place in the source. Frames count its pictures from 0; times count
// from the first one.
type Event struct {
	Type       string // as in the interface, such as vms.motionDetectionEvent.v1
	Region     string // id, also of a line or area; "" for the whole picture
	Direction  string // of a crossing
	RegionName string
	Reason     string // of tampering
	Object     string // the track that opened the span
	Start, End Moment // the first and the last picture with motion
	Best       Moment // the picture of Boxes
	Boxes      []motion.Box
	Share      float64 // the largest share of the picture that moved while it lasted, 0..1; of motion only
	Continued  bool    // cut at the maximum length: the next span goes on with it
}

// Moment is a picture's place in the source.
type Moment struct {
	Frame int
	At    time.Duration
}

// Seen is what one picture led to. Its slices are valid until the next call.
type Seen struct {
	Looked bool // whether it was looked at: the rate leaves some out
	Result motion.Result
	Ended  []Event // the spans that ended with it, and the crossings that it made known
	// Tampered: it confirmed that the view was interfered with.
	Tampered bool
}

// Watch is one source's detector, as the bridge would run it: the same choice of pictures
// (pipeline.Sampler), reduction (planar), detector (motion) and watch over the view
// (motion/tamper). Every second of a recording is looked at as it would have been live; only
// faster. Not safe for concurrent use.
type Watch struct {
	settings Settings
	detector *motion.Detector
	view     *tamper.Watch // nil without
	pace     pipeline.Sampler
	rules    *rule.Watch // nil without
	things   []motion.Thing
	names    map[string]string // of regions
	places   map[string]string // of lines and areas: names by type and id

	at     []time.Duration // of every picture: 8 bytes each
	shares []share         // of the last minutes
	peaks  map[string]float64
	ended  []Event
}

// share is how much of a picture moved.
type share struct {
	at    time.Duration
	share float64
}

// remembered is how far back shares are kept: a span that is confirmed late began not longer ago.
const remembered = 90 * time.Second

// epoch stands for the first picture's capture time; which one does not matter to the detector.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// NewWatch makes a Watch; the error is about the settings.
func NewWatch(s Settings) (*Watch, error) {
	w := &Watch{settings: s, pace: pipeline.NewSampler(s.Rate), names: map[string]string{}, peaks: map[string]float64{}}
	var err error
	if w.detector, err = motion.New(s.Motion); err != nil {
		return nil, fmt.Errorf("prepare the detector: %w", err)
	}
	if s.Tamper != nil {
		if w.view, err = tamper.New(*s.Tamper); err != nil {
			return nil, fmt.Errorf("prepare the watch over the view: %w", err)
		}
	}
	w.places = map[string]string{}
	if s.Rules != nil {
		if w.rules, err = rule.New(*s.Rules); err != nil {
			return nil, err
		}
		for _, l := range s.Rules.Lines {
			w.places[vms.TypeLineCross+l.ID] = l.Name
		}
		for _, a := range s.Rules.Areas {
			w.places[vms.TypeIntrusion+a.ID], w.places[vms.TypeLoiter+a.ID] = a.Name, a.Name
		}
	}
	for _, r := range s.Motion.Regions {
		w.names[r.ID] = r.Name
	}
	return w, nil
}

// Threshold is the share of the picture above which it counts as moving.
func (w *Watch) Threshold() float64 { return w.detector.Threshold() }

// Picture looks at a picture. Damaged ones only keep their place.
func (w *Watch) Picture(p footage.Picture) Seen {
	w.at = append(w.at, p.At)
	w.ended = w.ended[:0]
	if p.Damaged != nil {
		return Seen{}
	}
	t := epoch.Add(p.At)
	if !w.pace.Due(t) {
		return Seen{}
	}
	width, height := planar.Fit(p.Image.Width, p.Image.Height, pipeline.LumaPixels)
	pic := motion.Picture{Luma: planar.Luma(p.Image, width, height), Width: width, Height: height, Stride: width,
		Time: t}
	r := w.detector.Step(pic)
	w.remember(share{p.At, r.Activity.Share})
	w.take(r.Changes)
	if w.rules != nil {
		w.things = w.detector.Things(w.things[:0])
		w.takeRules(w.rules.Step(pic, w.things))
	}
	tampered := false
	if w.view != nil {
		tampered = w.takeView(w.view.Step(pic))
	}
	return Seen{Looked: true, Result: r, Ended: w.ended, Tampered: tampered}
}

// Silhouette writes what moves in the newest picture that was looked at, 255 for it, at any size:
// what the events were made of.
func (w *Watch) Silhouette(dst []byte, width, height int) {
	w.detector.ActivityMask(dst, width, height)
}

// Close ends the open spans, as a lost camera does, and returns them.
func (w *Watch) Close() []Event {
	w.ended = w.ended[:0]
	w.take(w.detector.Gap())
	if w.rules != nil {
		w.takeRules(w.rules.Gap())
	}
	if w.view != nil {
		w.takeView(w.view.Gap())
	}
	return w.ended
}

// takeView makes events of the ends that the watch over the view tells of, and says whether a span
// began.
func (w *Watch) takeView(changes []tamper.Change) (began bool) {
	for _, c := range changes {
		if c.Kind == tamper.Began {
			began = true
			continue
		}
		ev := Event{Type: vms.TypeTamper, Reason: c.Reason.String(), Start: w.moment(c.Start), End: w.moment(c.Last)}
		if c.Last.Before(c.Start) {
			ev.End = ev.Start
		}
		ev.Best = ev.End
		w.ended = append(w.ended, ev)
	}
	return began
}

// takeRules makes events of crossings, and of the ends of what was in areas.
func (w *Watch) takeRules(changes []rule.Change) {
	types := map[rule.Kind]string{rule.Crossed: vms.TypeLineCross, rule.IntrusionEnded: vms.TypeIntrusion,
		rule.LoiterEnded: vms.TypeLoiter}
	for _, c := range changes {
		kind, ok := types[c.Kind]
		if !ok {
			continue
		}
		ev := Event{Type: kind, Region: c.Rule, RegionName: w.places[kind+c.Rule], Direction: string(c.Direction),
			Object: c.Object, Start: w.moment(c.Start), End: w.moment(c.Last), Best: w.moment(c.BestTime),
			Boxes: []motion.Box{c.Box}}
		if c.Last.Before(c.Start) {
			ev.End = ev.Start
		}
		w.ended = append(w.ended, ev)
	}
}

// take makes events of the detector's ends.
func (w *Watch) take(changes []motion.Change) {
	for _, c := range changes {
		if c.Kind == motion.Began {
			w.peaks[c.Region] = w.peak(c.Start)
			continue
		}
		ev := Event{Type: vms.TypeMotion, Region: c.Region, RegionName: w.names[c.Region], Object: c.Object,
			Start: w.moment(c.Start),
			Best:  w.moment(c.BestTime), Boxes: append([]motion.Box(nil), c.Boxes...), Share: w.peaks[c.Region],
			Continued: c.Continued}
		if c.Region != "" {
			ev.Type = vms.TypeMotionInRegion
		}
		if ev.End = w.moment(c.Last); c.Last.Before(c.Start) {
			ev.End = ev.Start
		}
		if c.BestTime.IsZero() {
			ev.Best = ev.Start
		}
		delete(w.peaks, c.Region)
		w.ended = append(w.ended, ev)
	}
}

// Offset is how long after the first picture a time of the detector's is.
func (w *Watch) Offset(t time.Time) time.Duration { return t.Sub(epoch) }

// moment finds the picture that was the newest at t.
func (w *Watch) moment(t time.Time) Moment {
	d := w.Offset(t)
	i := sort.Search(len(w.at), func(i int) bool { return w.at[i] > d }) - 1
	if i < 0 {
		return Moment{}
	}
	return Moment{i, w.at[i]}
}

// remember takes a share into the open spans, and keeps it for those that will be known later.
func (w *Watch) remember(s share) {
	for region, peak := range w.peaks {
		w.peaks[region] = max(peak, s.share)
	}
	if len(w.shares) > 0 && len(w.shares) == cap(w.shares) {
		old := sort.Search(len(w.shares), func(i int) bool { return w.shares[i].at >= s.at-remembered })
		w.shares = append(w.shares[:0], w.shares[old:]...)
	}
	w.shares = append(w.shares, s)
}

// peak is the largest share since t.
func (w *Watch) peak(t time.Time) float64 {
	d, top := w.Offset(t), 0.0
	for i := len(w.shares) - 1; i >= 0 && w.shares[i].at >= d; i-- {
		top = max(top, w.shares[i].share)
	}
	return top
}
