package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"vmsbridge/agent/setup"
	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
)

// tuningBody bounds a drawing in bytes: 160 outlines of 64 corners.
const tuningBody = 512 << 10

// drawing is a camera's masks, regions, lines and areas, as the page draws them. Corners are
// fractions of the picture, as in the configuration.
type drawing struct {
	Version     string            `json:"version"`
	Sensitivity float64           `json:"sensitivity"`
	Masks       []configs.Polygon `json:"masks"`
	Regions     []outline         `json:"regions"`
	Lines       []outline         `json:"lines"`
	Areas       []outline         `json:"areas"`
}

// outline is a region, a line or an area; each has the keys of its own.
type outline struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Points      [][2]float64 `json:"points"`
	Sensitivity float64      `json:"sensitivity,omitempty"` // of a region; 0: the camera's
	Direction   string       `json:"direction,omitempty"`   // of a line
	Intrusion   bool         `json:"intrusion,omitempty"`   // of an area
	Loiter      float64      `json:"loiter,omitempty"`      // of an area: seconds
}

func drawingOf(t setup.Tuning) drawing {
	d := drawing{Version: t.Version, Sensitivity: t.Sensitivity, Masks: append([]configs.Polygon{}, t.Masks...),
		Regions: []outline{}, Lines: []outline{}, Areas: []outline{}}
	for _, r := range t.Regions {
		if r.Sensitivity == t.Sensitivity {
			r.Sensitivity = 0
		}
		d.Regions = append(d.Regions, outline{ID: r.ID, Name: r.Name, Points: r.Area, Sensitivity: r.Sensitivity})
	}
	for _, l := range t.Lines {
		d.Lines = append(d.Lines, outline{ID: l.ID, Name: l.Name, Points: l.Points, Direction: l.Direction})
	}
	for _, a := range t.Areas {
		d.Areas = append(d.Areas, outline{ID: a.ID, Name: a.Name, Points: a.Area, Intrusion: a.Intrusion,
			Loiter: a.Loiter.Seconds()})
	}
	return d
}

func (d drawing) tuning() setup.Tuning {
	t := setup.Tuning{Version: d.Version}
	t.Sensitivity, t.Masks = d.Sensitivity, d.Masks
	for _, r := range d.Regions {
		t.Regions = append(t.Regions,
			configs.Region{ID: r.ID, Name: r.Name, Area: r.Points, Sensitivity: r.Sensitivity})
	}
	for _, l := range d.Lines {
		t.Lines = append(t.Lines, configs.Line{ID: l.ID, Name: l.Name, Points: l.Points, Direction: l.Direction})
	}
	for _, a := range d.Areas {
		t.Areas = append(t.Areas, configs.Area{ID: a.ID, Name: a.Name, Area: a.Points, Intrusion: a.Intrusion,
			Loiter: time.Duration(a.Loiter * float64(time.Second))})
	}
	return t
}

// tuningRoutes are what the page draws and tries.
func (a *API) tuningRoutes(mux *http.ServeMux) {
	const path = "/web/cameras/{id}/motion"
	a.forAdministrators(mux, "GET "+path, func(r *http.Request, _ identity.Principal) (any, error) {
		t, err := a.opts.Setup.Tuning(r.PathValue("id"))
		return drawingOf(t), err
	})
	a.forAdministrators(mux, "PUT "+path, func(r *http.Request, p identity.Principal) (any, error) {
		d, err := drawn(r)
		if err != nil {
			return nil, err
		}
		t, err := a.opts.Setup.Tune(r.Context(), r.PathValue("id"), d.tuning())
		if err == nil {
			a.opts.Log.Info("a camera was tuned by the page", "camera", r.PathValue("id"), "by", p.Holder)
		}
		return drawingOf(t), err
	})
	a.tryRoute(mux)
}

// trialsOfDrawings is how many may be under way at a time: each costs a detector.
const trialsOfDrawings = 4

var errTrialEnds = errors.New("the trial ends")

// tryRoute is a stream of server-sent events that tells what a detector with the settings of the
// body makes of each picture of a camera: "look". It ends when the credential does.
func (a *API) tryRoute(mux *http.ServeMux) {
	trying := make(chan struct{}, trialsOfDrawings)
	const path = "/web/cameras/{id}/motion:try"
	a.forAdministrators(mux, "POST "+path, func(r *http.Request, p identity.Principal) (any, error) {
		d, err := drawn(r)
		if err != nil {
			return nil, err
		}
		return stream(func(w http.ResponseWriter) error {
			select {
			case trying <- struct{}{}:
				defer func() { <-trying }()
			default:
				return &setup.Refusal{Reason: "Four drawings are tried already: close the tuning of another camera."}
			}
			send, lives := sending(w), a.lives(r, p)
			err := a.opts.Try(r.Context(), r.PathValue("id"), d.tuning().CameraMotion, func(look any) error {
				if !lives() || !send("look", look) {
					return errTrialEnds
				}
				return nil
			})
			if _, refused := errors.AsType[*setup.Refusal](err); refused {
				return err
			}
			return nil
		}), nil
	})
}

// lives tells whether an administrator still is one, looking once a second.
func (a *API) lives(r *http.Request, p identity.Principal) func() bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	looked := time.Now()
	return func() bool {
		if time.Since(looked) < changesEvery {
			return true
		}
		looked = time.Now()
		now, err := (authenticators{&a.tokens, a.users}).Authenticate(token)
		return err == nil && now.Holder == p.Holder && administers(now, a.opts.Config().Bridge.Account)
	}
}

// drawn reads what the page sent.
func drawn(r *http.Request) (d drawing, err error) {
	if !oneObject(r, tuningBody, &d) {
		return d, &setup.Refusal{Reason: "The body must be one JSON object with the known keys, 512 kB at most."}
	}
	return d, nil
}
