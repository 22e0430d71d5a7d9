package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/motion"
	"vmsbridge/uplink/vms"
)

// show prints spans as tables or JSON lines, and progress on a terminal.
type show struct {
	program       Program
	json, several bool
	line          *cli.Progress
}

func newShow(program Program, asJSON, several bool) *show {
	return &show{program: program, json: asJSON, several: several, line: cli.NewProgress(program.Err)}
}

// line is a span of replay --json.
type line struct {
	File       string       `json:"file,omitempty"`
	Type       string       `json:"type"`
	Region     string       `json:"region"`
	RegionName string       `json:"region_name,omitempty"`
	Direction  string       `json:"direction,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Object     string       `json:"object,omitempty"`
	StartFrame int          `json:"start_frame"`
	EndFrame   int          `json:"end_frame"`
	StartS     float64      `json:"start_s"`
	EndS       float64      `json:"end_s"`
	BestFrame  int          `json:"best_frame"`
	BestS      float64      `json:"best_s"`
	Boxes      [][4]float64 `json:"boxes"`
	Share      float64      `json:"share"` // 0 for what is not motion
	Continued  bool         `json:"continued,omitempty"`
}

// event prints a span.
func (p *show) event(r *Recording, ev Event) error {
	p.clear()
	if !p.json {
		region := "-"
		if ev.Region != "" {
			region = cmp.Or(ev.RegionName, ev.Region)
		}
		_, err := fmt.Fprintf(p.program.Out, "%-10s  %-10s  %8s  %-15s  %-18s  %-16s  %-6s  %7s\n", Clock(ev.Start.At),
			Clock(ev.End.At),
			fmt.Sprintf("%.1f s", (ev.End.At-ev.Start.At).Seconds()),
			fmt.Sprintf("%d-%d", ev.Start.Frame, ev.End.Frame), Kind(ev), region, cmp.Or(ev.Object, "-"), movedText(ev))
		return err
	}
	l := line{Type: ev.Type, Region: ev.Region, RegionName: ev.RegionName, Direction: ev.Direction, Reason: ev.Reason,
		Object:     ev.Object,
		StartFrame: ev.Start.Frame, EndFrame: ev.End.Frame,
		StartS: secondsOf(ev.Start.At), EndS: secondsOf(ev.End.At), BestFrame: ev.Best.Frame, BestS: secondsOf(
			ev.Best.At), Boxes: Corners(ev.Boxes),
		Share: math.Round(ev.Share*1e6) / 1e6, Continued: ev.Continued}
	if p.several {
		l.File = r.File
	}
	return json.NewEncoder(p.program.Out).Encode(l)
}

// Corners are boxes as the interface writes them: left, top, right, bottom.
func Corners(boxes []motion.Box) [][4]float64 {
	out := make([][4]float64, 0, len(boxes))
	for _, b := range boxes {
		c := [4]float64{b.Left, b.Top, b.Right, b.Bottom}
		for i := range c {
			c[i] = math.Round(c[i]*1e5) / 1e5
		}
		out = append(out, c)
	}
	return out
}

// Kind is the event's type for people, with the reason of tampering.
func Kind(ev Event) string {
	name, ok := map[string]string{vms.TypeMotion: "motion", vms.TypeMotionInRegion: "region",
		vms.TypeTamper: "tamper", vms.TypeLineCross: "line", vms.TypeIntrusion: "inside",
		vms.TypeLoiter: "loiter"}[ev.Type]
	if !ok {
		return ev.Type
	}
	if ev.Reason != "" {
		return name + " (" + ev.Reason + ")"
	}
	return strings.TrimSpace(name + " " + ev.Direction)
}

// movedText is the largest share of the picture that moved; what is not about motion has none.
func movedText(ev Event) string {
	if ev.Type == vms.TypeMotion || ev.Type == vms.TypeMotionInRegion {
		return Share(ev.Share)
	}
	return "-"
}

// header prints the file's name and the table's heading.
func (p *show) header(r *Recording, info footage.Info) {
	if p.json {
		return
	}
	p.clear()
	_, _ = fmt.Fprintf(p.program.Out, "%s: %s; %s\n", r.File, r.about(info), r.Camera)
	_, _ = fmt.Fprintf(p.program.Out, "%-10s  %-10s  %8s  %-15s  %-18s  %-16s  %-6s  %7s\n", "START", "END", "LENGTH",
		"PICTURES", "EVENT", "REGION", "OBJECT", "MOVED")
}

// about is size, rate and length in words.
func (r *Recording) about(info footage.Info) string {
	text := fmt.Sprintf("%dx%d", r.Size.X, r.Size.Y)
	if info.Rate > 0 {
		text += fmt.Sprintf(", %.4g pictures/s", info.Rate)
		switch {
		case info.Timed:
		case r.command.FPS > 0:
			text += " (by --fps)"
		default:
			text += " (assumed)"
		}
	}
	if info.Length > 0 {
		text += ", " + Clock(info.Length)
	}
	return text
}

// summary says how much there was, and how fast it went.
func (p *show) summary(r *Recording, info footage.Info, interrupted bool) {
	p.clear()
	to := p.program.Out
	if p.json {
		to = p.program.Err
	}
	length := r.Length
	if info.Rate > 0 {
		length += time.Duration(float64(time.Second) / info.Rate)
	}
	took := time.Since(r.begin).Seconds()
	text := fmt.Sprintf("%s in %s (%s) in %.1f s: %.0f pictures/s, %s x real time", Counted(r.events, "span"),
		Counted(r.pictures, "picture"), Clock(length),
		took, float64(r.pictures)/took, timesText(length.Seconds()/took))
	for _, l := range r.crossings() {
		_, _ = fmt.Fprintln(to, l)
	}
	if interrupted {
		text = "interrupted: " + text
	}
	if p.json && p.several {
		text = r.File + ": " + text
	}
	_, _ = fmt.Fprintln(to, text)
}

// note prints something that the user should know.
func (p *show) note(text string) {
	p.clear()
	_, _ = fmt.Fprintln(p.program.Err, p.program.Name+":", strings.Join(strings.Fields(text), " "))
}

// progress says how far it is, on a terminal only.
func (p *show) progress(r *Recording, info footage.Info) {
	if r.pictures%16 != 0 {
		return
	}
	text := Clock(r.Length)
	switch {
	case info.Length > 0:
		text += fmt.Sprintf(" of %s (%.0f %%)", Clock(info.Length),
			min(100, 100*r.Length.Seconds()/info.Length.Seconds()))
	case info.Pictures > 0:
		text += fmt.Sprintf(" (%d of %d pictures)", r.pictures, info.Pictures)
	}
	p.line.Say("%s  %s x real time, %s", text,
		timesText(r.Length.Seconds()/time.Since(r.begin).Seconds()), Counted(r.events, "span"))
}

// clear removes the progress line, before something else is printed.
func (p *show) clear() { p.line.End() }

// scoreLine is the last line of replay --json --csv.
type scoreLine struct {
	Type string `json:"type"` // "score"
	Score
}

// score prints what became of each labelled motion, and the totals.
func (p *show) score(r *Recording, s Score) error {
	p.clear()
	if p.json {
		return json.NewEncoder(p.program.Out).Encode(scoreLine{"score", s})
	}
	_, _ = fmt.Fprintf(p.program.Out, "\n%-13s  %-13s  %-7s  %9s  %9s  %s\n", "LABELLED", "FOUND", "RESULT", "ONSET",
		"END", "NOTE")
	for _, v := range s.Motions {
		found, onset, end := "-", "-", "-"
		if v.Found {
			found = fmt.Sprintf("%d-%d", v.FoundStart, v.FoundEnd)
			onset, end = r.errorText(v.OnsetError, v.OnsetOK), r.errorText(v.EndError, v.EndOK)
		}
		_, _ = fmt.Fprintf(p.program.Out, "%-13s  %-13s  %-7s  %9s  %9s  %s\n",
			fmt.Sprintf("%d-%d", v.StartFrame, v.EndFrame), found, verdictText(v), onset, end, v.Note)
	}
	for _, at := range s.QuietStarts {
		_, _ = fmt.Fprintf(p.program.Out, "a span begins in quiet at picture %d\n", at)
	}
	_, err := fmt.Fprintf(p.program.Out, "%d of %d found, %d missed, %d splits, %d merged; %d starts in quiet; not "+
		"scored: %d in present_still, %d in residual, %d without label\n"+
		"precision %.3f, recall %.3f; within the tolerance: %d of %d onsets, %d of %d ends (! marks the others; "+
		"pictures, late is +)\n",
		s.Found, s.Total, s.Missed, s.Splits, s.Merged, len(s.QuietStarts), s.Standing, s.Residual, s.Unlabelled,
		s.Precision, s.Recall, s.OnsetOK, s.Found, s.EndOK, s.Found)
	return err
}

func (r *Recording) errorText(frames int, ok bool) string {
	text := fmt.Sprintf("%+d", frames)
	if !ok {
		text += " !"
	}
	return text
}

func verdictText(v Verdict) string {
	switch {
	case !v.Found:
		return "missed"
	case v.Merged:
		return "merged"
	case v.Splits > 0:
		return "split"
	}
	return "found"
}

// Clock is a time within a recording: 0:06.4 or 1:02:03.4.
func Clock(d time.Duration) string {
	tenths := d.Round(100*time.Millisecond).Milliseconds() / 100
	s, m, h := tenths/10%60, tenths/600%60, tenths/36000
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d.%d", h, m, s, tenths%10)
	}
	return fmt.Sprintf("%d:%02d.%d", m, s, tenths%10)
}

// timesText is how many times as fast as the recording: 0.4, 3.1, 53.
func timesText(times float64) string {
	if times < 10 {
		return fmt.Sprintf("%.1f", times)
	}
	return fmt.Sprintf("%.0f", times)
}

// Share is a share of the picture, in per cent.
func Share(share float64) string { return fmt.Sprintf("%.2g %%", 100*share) }

func secondsOf(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

// Counted is a number and what it counts: 1 span, 2 spans.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
