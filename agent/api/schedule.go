package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"vmsbridge/agent/setup"
	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
)

// scheduleBody bounds what a change of a schedule may be, in bytes.
const scheduleBody = 16 << 10

// weekdays are the names of the days on the page, from Sunday on as in configs.WeekTime.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// weekTime is a time of some days of the week, as the page shows it.
type weekTime struct {
	Days []string `json:"days"`
	From string   `json:"from"` // hours and minutes of the local clock
	To   string   `json:"to"`
}

// schedule is when motion makes events, before all cameras or before one.
type schedule struct {
	ID    string     `json:"id"` // "": all
	Name  string     `json:"name"`
	Own   bool       `json:"own"` // a camera that does not have those of all
	Times []weekTime `json:"times"`
}

// schedules is all of it. Clock is the hour and day by which it goes, of Zone.
type schedules struct {
	Version string     `json:"version"`
	Zone    string     `json:"zone"`
	Clock   string     `json:"clock"`
	All     schedule   `json:"all"`
	Cameras []schedule `json:"cameras"`
}

func schedulesOf(s setup.Schedules, now time.Time) schedules {
	now = now.In(s.Zone)
	zone := s.Zone.String()
	if s.Zone == time.Local {
		zone, _ = now.Zone()
	}
	out := schedules{Version: s.Version, Zone: zone, Clock: now.Format("Monday 15:04"),
		All: schedule{Times: weekTimes(s.All)}, Cameras: []schedule{}}
	for _, c := range s.Cameras {
		out.Cameras = append(out.Cameras, schedule{c.ID, c.Name, c.Own, weekTimes(c.Times)})
	}
	return out
}

func weekTimes(list []configs.WeekTime) []weekTime {
	out := []weekTime{}
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute) }
	for _, w := range list {
		one := weekTime{Days: []string{}, From: clock(w.From), To: clock(w.To)}
		for i, on := range w.Days {
			if on {
				one.Days = append(one.Days, weekdays[i])
			}
		}
		out = append(out, one)
	}
	return out
}

// scheduleWish is a change: the times of a camera, or of all with "". Null takes a camera's own
// away.
type scheduleWish struct {
	Version string      `json:"version"`
	Camera  string      `json:"camera"`
	Times   *[]weekTime `json:"times"`
}

// times are the entries that are wished, nil for none of the camera's own.
func (w scheduleWish) times() ([]configs.WeekTime, error) {
	if w.Times == nil {
		return nil, nil
	}
	list := []configs.WeekTime{}
	for _, one := range *w.Times {
		if len(one.Days) == 0 {
			return nil, &setup.Refusal{Reason: "Choose a day for each time, or remove the time."}
		}
		t, err := configs.ParseWeekTime(strings.Join(one.Days, " ") + " " + one.From + "-" + one.To)
		if err != nil {
			return nil, &setup.Refusal{Reason: fmt.Sprintf("This was not written: %v.", err)}
		}
		list = append(list, t)
	}
	return list, nil
}

// scheduleRoutes are what the page shows and changes of the schedules.
func (a *API) scheduleRoutes(mux *http.ServeMux) {
	const path = "/web/schedule"
	a.forAdministrators(mux, "GET "+path, func(*http.Request, identity.Principal) (any, error) {
		s, err := a.opts.Setup.Schedules()
		if err != nil {
			return nil, err
		}
		return schedulesOf(s, time.Now()), nil
	})
	a.forAdministrators(mux, "PUT "+path, func(r *http.Request, p identity.Principal) (any, error) {
		var w scheduleWish
		if !oneObject(r, scheduleBody, &w) {
			return nil, &setup.Refusal{Reason: "The body must be one JSON object with version, camera and times, " +
				"16 kB at most."}
		}
		times, err := w.times()
		if err != nil {
			return nil, err
		}
		s, err := a.opts.Setup.Schedule(r.Context(), w.Version, w.Camera, times)
		if err != nil {
			return nil, err
		}
		a.opts.Log.Info("a schedule was changed by the page", "camera", w.Camera, "by", p.Holder)
		return schedulesOf(s, time.Now()), nil
	})
}
