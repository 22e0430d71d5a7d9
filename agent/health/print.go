package health

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/uplink/delivery"
)

// Print writes the report as a page of text, problems first.
func (r *Report) Print(w io.Writer) error {
	p := &page{now: r.Time}
	p.problems(r)
	p.head(r)
	if r.Running {
		p.cameras(r.Cameras)
		p.rest(r)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

type page struct {
	b   strings.Builder
	now time.Time
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *page) problems(r *Report) {
	switch n := len(r.Problems); {
	case n == 0:
		p.line("All is well.")
	case n == 1:
		p.line("1 thing is wrong:")
	default:
		p.line("%d things are wrong:", n)
	}
	for _, pr := range r.Problems {
		p.line("  ! %s", pr.Text)
		if pr.Hint != "" {
			p.line("    → %s", pr.Hint)
		}
	}
	p.line("")
}

func (p *page) head(r *Report) {
	name := cmp.Or(r.Bridge, "without a configuration")
	if r.Name != "" && r.Name != r.Bridge {
		name += " (" + r.Name + ")"
	}
	p.line("bridge    %s, version %s, %s", name, r.Version, r.Platform)
	if r.Running {
		p.line("runs      since %s (%s), process %d", at(r.Started), ago(p.now.Sub(r.Started)), r.PID)
	} else {
		p.line("runs      no")
	}
	c := r.Config
	if c.File != "" {
		line := c.File
		if !c.Loaded.IsZero() {
			line += ", loaded " + at(c.Loaded)
		}
		p.line("config    %s", line)
	}
	for _, problem := range c.Problems {
		p.line("          %s", problem)
	}
	if len(c.Restart) > 0 {
		p.line("          waits for a restart: %s", strings.Join(c.Restart, ", "))
	}
	if r.Disk.Total > 0 {
		p.line("disk      %s free of %s at %s", size(r.Disk.Free), size(r.Disk.Total), r.Disk.Path)
	}
	if s := r.Disk.Slow; s != nil && !s.Until.IsZero() {
		p.line("          was slow from %s to %s: a write took up to %.1f s", at(s.Since), at(s.Until), s.Longest)
	}
	p.machine(r.Machine)
}

// machine says what is known of it.
func (p *page) machine(m Machine) {
	if m.Processors == 0 {
		return
	}
	words := []string{fmt.Sprintf("%s, load %.1f", counted(m.Processors, "processor", "processors"), m.Load)}
	switch {
	case m.MemoryFree > 0:
		words = append(words, size(m.MemoryFree)+" of "+size(m.Memory)+" memory free")
	case m.Memory > 0:
		words = append(words, size(m.Memory)+" memory")
	}
	if m.Temperature > 0 {
		words = append(words, fmt.Sprintf("%.0f °C", m.Temperature))
	}
	if m.CardUsed > 0 {
		words = append(words, fmt.Sprintf("its card has used up to %d %% of its life", m.CardUsed))
	}
	p.line("machine   %s", strings.Join(words, "; "))
}

func (p *page) cameras(list []Camera) {
	p.line("")
	if len(list) == 0 {
		p.line("no cameras")
		return
	}
	t := tabwriter.NewWriter(&p.b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "CAMERA\tSTATE\tSINCE\tSTREAM\tLAST STILL\tNAME")
	for _, c := range list {
		state := c.State
		if c.Disarmed {
			state += ", disarmed"
		}
		if c.Tampered != "" {
			state += ", " + c.Tampered
		}
		stream := ""
		if c.Codec != "" {
			stream = fmt.Sprintf("%s %dx%d %s", c.Codec, c.Width, c.Height, c.Transport)
		}
		last := c.Preview
		if c.Main.After(last) {
			last = c.Main
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", c.ID, state, p.since(c.Since), stream, p.since(last), c.Name)
	}
	_ = t.Flush()
	for _, c := range list {
		if c.Reason != "" {
			p.line("  %s: %s", c.ID, c.Reason)
		}
		if c.Disarmed || c.Switched {
			p.line("  %s: %s", c.ID, c.arming())
		}
		switch {
		case c.DecodesAll != "":
			p.line("  %s: all of its pictures are decoded: %s", c.ID, c.DecodesAll)
		case c.Undecoded > 0:
			p.line("  %s: %.0f %% of its pictures were left undecoded in the last minute: nothing moves", c.ID,
				100*c.Undecoded)
		}
		if d := c.Decoding; d != nil && d.Alone {
			p.line("  %s: decoded %s since %s; it takes %.0f %% of a processor", c.ID, d.Stage, at(d.Since),
				100*d.Processor)
		}
	}
}

// arming says whether motion makes events, why, and until when.
func (c Camera) arming() string {
	text := "armed"
	if c.Disarmed {
		text = "disarmed"
	}
	if c.Switched {
		text += " by hand"
	} else {
		text += " by the schedule"
	}
	if !c.ArmingUntil.IsZero() {
		text += " until " + at(c.ArmingUntil)
	}
	if c.Disarmed {
		text += ": motion makes no events"
	}
	return text
}

// sinks is a line for each sink of events beside the service.
func (p *page) sinks(list []delivery.SinkStatus) {
	for _, h := range list {
		state := "not tried yet"
		switch {
		case h.Up:
			state = "takes events"
		case h.Problem != "":
			state = h.Problem
		}
		line := fmt.Sprintf("%d waiting, %d sent", h.Waiting, h.Sent)
		if !h.Oldest.IsZero() {
			line += ", the oldest since " + p.since(h.Oldest)
		}
		if h.Skipped > 0 {
			line += fmt.Sprintf(", %d left out for lack of room or for age", h.Skipped)
		}
		if h.Refused > 0 {
			line += fmt.Sprintf(", %d refused", h.Refused)
		}
		p.line("%-9s %s: %s; %s", h.Kind, h.Name, state, line)
		if h.LastRefused != "" {
			p.line("          refused last: %s", h.LastRefused)
		}
	}
}

func (p *page) rest(r *Report) {
	p.line("")
	if s := r.Service; s != nil {
		state := "takes events"
		if s.Problem != "" {
			state = s.Problem
		}
		p.line("service   %s: %s; tunnel %s", s.URL, state, s.Tunnel)
		line := fmt.Sprintf("%d waiting, %d parked", r.Outbox.Waiting, r.Outbox.Parked)
		if o := r.Outbox.Oldest; o != nil {
			line += ", the oldest since " + p.since(o.Time)
		}
		p.line("outbox    %s", line)
	} else {
		p.line("service   none is configured")
	}
	if r.Certificate != "" {
		p.line("api       the bridge's own certificate, SHA-256 %s", r.Certificate)
	}
	p.sinks(r.Sinks)
	p.line("journal   %d events, %s", r.Journal.Events, size(r.Journal.Bytes))
	line := fmt.Sprintf("%d, %s of %s", r.Stills.Stills, size(r.Stills.Bytes), size(r.Stills.Most))
	if !r.Stills.Oldest.IsZero() {
		line += ", back to " + at(r.Stills.Oldest)
	}
	p.line("stills    %s", line)
	var decoders []string
	for _, d := range []struct {
		name string
		c    codec.Capability
	}{{"H.264", r.Decoders.H264}, {"H.265", r.Decoders.H265}, {"JPEG", r.Decoders.JPEG}} {
		word := "missing"
		if d.c.OK {
			word = strings.TrimSpace(d.c.Library + " " + d.c.Version)
		}
		if d.c.Decoder != "" {
			word += " by " + d.c.Decoder
		}
		decoders = append(decoders, d.name+" "+word)
	}
	if j := r.Decoders.JPEG; !j.OK && j.Problem == "" { // JPEG is always there, if slowly
		decoders = []string{"not looked at yet"}
	}
	p.line("decoders  %s", strings.Join(decoders, "; "))
	if held := r.Decoders.Confinement; len(held.InForce)+len(held.Missing) > 0 {
		p.line("          confined by %s", held)
	}
}

func (p *page) since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return ago(p.now.Sub(t))
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// ago is a time that has passed, as exact as a person cares for.
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "in " + ago(-d)
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dmin ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

func size(n int64) string {
	switch {
	case n >= 10e9:
		return fmt.Sprintf("%.0f GB", float64(n)/1e9)
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	default:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
}
