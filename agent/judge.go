package agent

import (
	"fmt"
	"strings"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/status"
)

// judge says what of a report is wrong, and what to do. What is said in public names no camera, no address, no reason.
func (a *Agent) judge(r *status.Report) {
	wrong := func(k status.Kind, public, hint, format string, args ...any) {
		r.Problems = append(r.Problems, status.Problem{Kind: k, Public: public, Hint: hint, Text: fmt.Sprintf(format, args...)})
	}
	judgeStores(r, wrong)
	if problem := a.clock.Problem(); problem != "" {
		wrong(status.Clock, "the clock is not known to be true, events wait", "see that the machine gets the time (NTP), or set it", "%s", problem)
	}
	judgeCameras(r, wrong)
	judgeDecoding(r, wrong)
	judgeConfig(r, wrong)
	a.judgeService(r, wrong)
	a.judgeDecoders(r, wrong)
	judgeHomes(r, wrong)
}

// complain adds a problem.
type complain func(k status.Kind, public, hint, format string, args ...any)

func judgeStores(r *status.Report, wrong complain) {
	if r.Journal.Failing != "" {
		wrong(status.Journal, "the journal refuses events, they wait in memory: "+r.Journal.Remedy, r.Journal.Remedy,
			"the journal refuses events, they wait in memory: %s", r.Journal.Failing)
	}
	// The ring itself makes room down to its reserve; half of that is somebody else's doing.
	if r.Disk.Total > 0 && r.Disk.Free < r.Disk.Least/2 {
		wrong(status.Disk, "the disk that holds bridge.data is almost full", "something else than stills fills it; free space, or make stills.max_size smaller",
			"the disk that holds %s is almost full: %d MB are free", r.Disk.Path, r.Disk.Free/1e6)
	}
	judgeSlow(r, wrong)
	const look = "vmsbridge fsck on the stopped bridge says more; if it comes again, replace the card"
	if r.Journal.Damaged != "" {
		wrong(status.Damage, "the journal was found damaged at the start", look, "%s", r.Journal.Damaged)
	}
	if r.Users.Damaged != "" {
		wrong(status.Damage, "the file of users was found damaged", look, "%s", r.Users.Damaged)
	}
	if r.Users.Shut != "" {
		wrong(status.Damage, "nobody can sign in at the bridge", "see the reason; tokens of the configuration still work, and all else runs",
			"nobody can sign in at the bridge: %s", r.Users.Shut)
	}
	if r.Stills.Damaged != "" {
		wrong(status.Damage, "some stills were found damaged", look, "%s", r.Stills.Damaged)
	}
}

// connectTime is how long the first connection to a camera may take before it counts as not online. Most take a second or two, and those
// that fail say so at once.
const connectTime = 15 * time.Second

// connecting says whether a camera is being connected to for the first time, and that for a short while.
func connecting(c status.Camera, now time.Time) bool {
	return c.State == string(camera.Connecting) && now.Sub(c.Since) < connectTime
}

// named bounds how many cameras are listed in one line.
const named = 8

func judgeCameras(r *status.Report, wrong complain) {
	var offline, tampered, stuck []string
	for _, c := range r.Cameras {
		switch {
		case c.State == status.Off || connecting(c, r.Time):
			continue
		case !c.Online:
			reason := c.State
			if c.Reason != "" {
				reason = c.Reason
			}
			offline = append(offline, c.ID+" ("+reason+")")
		}
		if c.Tampered != "" {
			tampered = append(tampered, c.ID+" ("+c.Tampered+")")
		}
		if c.Stuck {
			stuck = append(stuck, c.ID)
		}
	}
	if len(offline) > 0 {
		wrong(status.Cameras, "not all cameras are online: the log and /api/v3.0/cameras?include=status say which", "vmsbridge probe --camera ID tries one and says what to do",
			"%s not online: %s", counted(len(offline), "camera is", "cameras are"), list(offline))
	}
	if len(tampered) > 0 {
		wrong(status.View, fmt.Sprintf("the view of %d cameras was tampered with: vmsbridge events --type tamper says which", len(tampered)), "look at the camera",
			"the view of %s: %s", counted(len(tampered), "camera was tampered with", "cameras was tampered with"), list(tampered))
	}
	if len(stuck) > 0 {
		wrong(status.Stuck, "a camera's pipeline stands still", "restart the bridge, and please report it with a support bundle", "the pipeline stands still of %s", list(stuck))
	}
}

func judgeDecoding(r *status.Report, wrong complain) {
	const lighter = "make its stream lighter: a smaller picture, a lower bit rate or rate, or its second stream as preview_url"
	for _, c := range r.Cameras {
		if d := c.Decoding; d != nil && d.KeysOnly {
			wrong(status.Decoding, "a camera takes more than its share of decoding time: only its keyframes are decoded", lighter,
				"%s takes more than its share of decoding time, which is %.0f %% of a processor, and only its keyframes are decoded (%.0f %%)",
				c.ID, 100*d.Share, 100*d.Processor)
		} else if c.Losing > 0 {
			wrong(status.Decoding, "pictures of a camera are dropped, because decoding is behind", lighter+", or have fewer cameras on this machine",
				"%.0f %% of the pictures of %s were dropped in the last minute, because decoding is behind", 100*c.Losing, c.ID)
		}
	}
}

func judgeConfig(r *status.Report, wrong complain) {
	if n := len(r.Config.Problems); n > 0 {
		wrong(status.Configuration, "the configuration was edited and has problems; the bridge goes on with the one before: vmsbridge check shows them",
			"correct it, then vmsbridge service reload", "the edit of %s was not taken over since %s: %s", r.Config.File, r.Config.Failed.Format(time.RFC3339),
			strings.Join(r.Config.Problems[:min(n, 3)], "; "))
	}
	if len(r.Config.Restart) > 0 {
		wrong(status.Restart, "a part of the configuration holds only after a restart", "vmsbridge service restart", "the new value holds only after a restart: %s",
			strings.Join(r.Config.Restart, ", "))
	}
}

func (a *Agent) judgeService(r *status.Report, wrong complain) {
	if r.Outbox.Parked > 0 {
		wrong(status.Parked, "the service has refused events for good: vmsbridge queue list shows why", "vmsbridge queue list shows why",
			"the service has refused %s for good", counted(r.Outbox.Parked, "event", "events"))
	}
	if r.Service == nil {
		return
	}
	if problem := r.Service.Problem; problem != "" {
		kind := status.Service
		if !r.Service.SignedIn {
			kind = status.SignIn
		}
		text := problem
		if why := a.tie.Now().Why(); why != "" && !strings.Contains(problem, why) {
			text += " (" + why + ")"
		}
		wrong(kind, problem, "", "%s", text)
	}
	if _, problem := a.tie.Now().Tunnel(); problem != "" {
		wrong(status.Tunnel, problem, "", "%s", problem)
	}
}

func judgeHomes(r *status.Report, wrong complain) {
	for _, h := range r.Homes {
		if !h.Up && h.Problem != "" {
			wrong(status.Home, "another home of events does not take them: vmsbridge status says which", "", "%s; %s waiting (%s)", h.Problem,
				counted(h.Waiting, "event is", "events are"), h.LastError)
		}
	}
}

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
