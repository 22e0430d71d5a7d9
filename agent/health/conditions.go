package health

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
)

// finding is one thing that a check found. What it leaves empty is the row's.
type finding struct{ text, public, remedy string }

// one is a check of one thing, which is wrong if its text is not empty.
func one(text func(*Report) string) func(*Report) []finding {
	return func(r *Report) []finding { return said(text(r)) }
}

// said is a finding of a text; none for "".
func said(text string) []finding {
	if text == "" {
		return nil
	}
	return []finding{{text: text}}
}

func notRunning(r *Report) []finding {
	if r.Running {
		return nil
	}
	return []finding{{text: "the bridge does not run" + r.DownWhy, remedy: r.DownHint}}
}

func journalRefuses(r *Report) []finding {
	if r.Journal.Failing == "" {
		return nil
	}
	const refuses = "the journal refuses events, they wait in memory: "
	return []finding{{refuses + r.Journal.Failing, refuses + r.Journal.Remedy, r.Journal.Remedy}}
}

// diskAlmostFull finds less than half of the ring's reserve free: the ring itself makes room down
// to all of it, so somebody else takes the rest.
func diskAlmostFull(r *Report) []finding {
	if r.Disk.Total == 0 || r.Disk.Free >= r.Disk.Least/2 {
		return nil
	}
	return said(fmt.Sprintf("the disk that holds %s is almost full: %d MB are free", r.Disk.Path, r.Disk.Free/1e6))
}

func diskSlow(r *Report) []finding {
	s := r.Disk.Slow
	if s == nil || !s.Until.IsZero() {
		return nil
	}
	return said(fmt.Sprintf("the disk that holds %s has been slow since %s: a write took %.1f s; events and stills "+
		"are kept, and come later",
		r.Disk.Path, s.Since.Format(time.RFC3339), s.Longest))
}

func usersShut(r *Report) []finding {
	if r.Users.Shut == "" {
		return nil
	}
	return said("nobody can sign in at the bridge: " + r.Users.Shut)
}

// connectTime is how long the first connection to a camera may take before it counts as not online.
// Most take a second or two, and those that fail say so at once.
const connectTime = 15 * time.Second

// connecting reports whether a camera is being connected to for the first time, and that for a
// short while.
func connecting(c Camera, now time.Time) bool {
	return c.State == string(camera.Connecting) && now.Sub(c.Since) < connectTime
}

// watched are the cameras whose state says something: not those that are off or only just started.
func watched(r *Report) (list []Camera) {
	for _, c := range r.Cameras {
		if c.State != Off && !connecting(c, r.Time) {
			list = append(list, c)
		}
	}
	return list
}

// title is what its owner calls a camera.
func (c Camera) title() string { return cmp.Or(c.Name, c.ID) }

func camerasOffline(r *Report) []finding {
	var names []string
	for _, c := range watched(r) {
		if reason := c.State; !c.Online {
			if c.Reason != "" {
				reason = c.Reason
			}
			names = append(names, c.title()+" ("+reason+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return said(fmt.Sprintf("%s not online: %s", counted(len(names), "camera is", "cameras are"), list(names)))
}

func pipelinesStuck(r *Report) []finding {
	var names []string
	for _, c := range watched(r) {
		if c.Stuck {
			names = append(names, c.title())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return said("the pipeline stands still of " + list(names))
}

func viewsTampered(r *Report) []finding {
	var names []string
	for _, c := range watched(r) {
		if c.Tampered != "" {
			names = append(names, c.title()+" ("+c.Tampered+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []finding{{
		text: fmt.Sprintf("the view of %s: %s",
			counted(len(names), "camera was tampered with", "cameras was tampered with"), list(names)),
		public: fmt.Sprintf("the view of %d cameras was tampered with: vmsbridge events --type tamper says which",
			len(names)),
	}}
}

func overShare(r *Report) (list []finding) {
	for _, c := range r.Cameras {
		if d := c.Decoding; d != nil && d.KeysOnly {
			list = append(list,
				finding{text: fmt.Sprintf("%s takes more than its share of decoding time, which is %.0f %% of a "+
					"processor, "+
					"and only its keyframes are decoded (%.0f %%)", c.title(), 100*d.Share, 100*d.Processor)})
		}
	}
	return list
}

func picturesDropped(r *Report) (list []finding) {
	for _, c := range r.Cameras {
		if keys := c.Decoding != nil && c.Decoding.KeysOnly; !keys && c.Losing > 0 {
			list = append(list,
				finding{text: fmt.Sprintf("%.0f %% of the pictures of %s were dropped in the last minute, because "+
					"decoding is behind",
					100*c.Losing, c.title())})
		}
	}
	return list
}

func packetsLost(r *Report) (list []finding) {
	for _, c := range r.Cameras {
		if c.Torn == 0 {
			continue
		}
		f := finding{text: fmt.Sprintf("%.0f %% of the pictures of %s in the last minute are torn, because packets of "+
			"its stream are lost on their way", 100*c.Torn, c.title()), remedy: "set transport: tcp for this camera"}
		if c.Transport == camera.TransportTCP {
			f.remedy = "look at its cable or Wi-Fi and at the switch, or lower its bit rate"
		}
		list = append(list, f)
	}
	return list
}

func mainRefused(r *Report) (list []finding) {
	for _, c := range r.Cameras {
		if c.MainRefused != "" {
			list = append(list,
				finding{text: fmt.Sprintf("the full-resolution stills of %s are missing: %s", c.title(),
					c.MainRefused)})
		}
	}
	return list
}

func editRefused(r *Report) []finding {
	n := len(r.Config.Problems)
	if n == 0 || !r.Running {
		return nil
	}
	return said(fmt.Sprintf("the edit of %s was not taken over since %s: %s", r.Config.File,
		r.Config.Failed.Format(time.RFC3339),
		strings.Join(r.Config.Problems[:min(n, 3)], "; ")))
}

func restartNeeded(r *Report) []finding {
	if len(r.Config.Restart) == 0 {
		return nil
	}
	return said("the new value holds only after a restart: " + strings.Join(r.Config.Restart, ", "))
}

func eventsParked(r *Report) []finding {
	if r.Outbox.Parked == 0 {
		return nil
	}
	return said(fmt.Sprintf("the service has refused %s for good", counted(r.Outbox.Parked, "event", "events")))
}

func serviceRefuses(r *Report) []finding {
	if r.Service == nil || r.Service.SignedIn {
		return nil
	}
	return serviceProblem(r.Service)
}

func serviceFails(r *Report) []finding {
	if r.Service == nil || !r.Service.SignedIn {
		return nil
	}
	return serviceProblem(r.Service)
}

// serviceProblem adds to what is wrong what the service answered.
func serviceProblem(s *Link) []finding {
	if s.Problem == "" {
		return nil
	}
	text := s.Problem
	if s.Why != "" && !strings.Contains(text, s.Why) {
		text += " (" + s.Why + ")"
	}
	return []finding{{text: text, public: s.Problem}}
}

func decodersUnknown(r *Report) []finding {
	if r.DecodersProblem == "" {
		return nil
	}
	return said("the decoders cannot be asked: " + r.DecodersProblem)
}

// manyDeaths is how many decoder processes may die in ten minutes before it is a problem: one that
// a broken picture ends, now and then, is replaced and costs little.
const manyDeaths = 5

const memoryShort = "the kernel does that where memory is short, see dmesg: make streams lighter, have fewer cameras " +
	"on this machine, or give the unit more (MemoryMax=)"

func decodersDie(r *Report) []finding {
	d := r.DecoderDeaths
	if d.Count < manyDeaths {
		return nil
	}
	if 2*d.Killed < d.Count {
		return said(fmt.Sprintf("decoder processes die, %d in the last ten minutes: pictures are lost, and motion may "+
			"be", d.Count))
	}
	return []finding{{text: fmt.Sprintf("decoder processes are killed, %d in the last ten minutes: pictures are lost, "+
		"and motion may be", d.Killed), remedy: memoryShort}}
}

func decodersMissing(r *Report) (list []finding) {
	if !r.DecodersKnown {
		return nil
	}
	for _, d := range formats(r.Decoders) {
		if !d.OK {
			list = append(list, finding{fmt.Sprintf("%s cannot be decoded: %s", d.name, d.Problem), "the decoder for " +
				d.name + " is missing", d.Hint})
		} else if d.Problem != "" && d.name != "JPEG" { // that of JPEG says that it is slow
			list = append(list, finding{text: d.name + " is " + d.Problem, remedy: d.Hint})
		}
	}
	return list
}

// format is a format's name and who decodes it.
type format struct {
	name string
	codec.Capability
}

func formats(c codec.Capabilities) []format {
	return []format{{"H.264", c.H264}, {"H.265", c.H265}, {"JPEG", c.JPEG}}
}

func sinksFail(r *Report) (list []finding) {
	for _, h := range r.Sinks {
		if !h.Up && h.Problem != "" {
			list = append(list,
				finding{text: fmt.Sprintf("%s; %s waiting (%s)", h.Problem,
					counted(h.Waiting, "event is", "events are"), h.LastError)})
		}
	}
	return list
}

// named bounds how many cameras are listed in one line.
const named = 8

func list(names []string) string {
	if len(names) > named {
		return strings.Join(names[:named], ", ") + fmt.Sprintf(" and %d more", len(names)-named)
	}
	return strings.Join(names, ", ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
