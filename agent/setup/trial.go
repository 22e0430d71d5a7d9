package setup

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/discover"
)

const (
	findTime  = 30 * time.Second // to find a camera's stream
	probeTime = 20 * time.Second // to look at it
	// trialsAtOnce bounds what trying costs a small box: a decoder process each.
	trialsAtOnce = 2
	trialsKept   = 16
)

// Trial is what a camera showed when it was tried. Add and Change take it by its ID in place of
// addresses and password, which stay in the bridge.
type Trial struct {
	ID              string
	URL, PreviewURL string // for people: see camera.ShownURL
	Name            string // as the camera calls itself; "": it does not say
	By              string // ONVIF, or the maker whose usual path it is; "": the address was given
	Codec           camera.Codec
	Rate            float64 // pictures a second
	Transport       string
	Picture         Picture
}

// kept is a trial that was good.
type kept struct {
	id    string
	draft Draft
	known bool // the password is the camera's own
}

// Try finds the camera's stream, if its address is that of the camera alone, and looks at it. It
// blocks for some seconds, a minute at most. The error is a *Refusal.
func (s *Setup) Try(ctx context.Context, d Draft) (Trial, error) {
	select {
	case s.trying <- struct{}{}:
		defer func() { <-s.trying }()
	default:
		return Trial{}, refuse("Other cameras are being tested just now: try again in a moment.")
	}
	known, err := s.known(&d)
	if err != nil {
		return Trial{}, err
	}
	named := d
	named.Name = "x" // it gets one later
	var t Trial
	if u, err := url.Parse(d.URL); IsHost(d.URL) || err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		u.User == nil {
		found, err := findStream(ctx, d)
		if err != nil {
			return Trial{}, err
		}
		d.URL, d.PreviewURL, t.Name, t.By = found.URL, found.PreviewURL, found.Name, found.By
		named.URL, named.PreviewURL = d.URL, d.PreviewURL
	}
	if err := named.check(); err != nil {
		return Trial{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	r, err := camera.Probe(ctx, d.stream())
	if err != nil {
		return Trial{}, refuse("%v", err)
	}
	if t.Picture, err = FirstPicture(ctx, r, s.opts.Libraries()); err != nil {
		return Trial{}, refuse("The camera plays, but no picture can be made of it: %v", err)
	}
	t.ID, t.URL, t.PreviewURL = rand.Text(), camera.ShownURL(d.URL), ""
	if d.PreviewURL != "" {
		t.PreviewURL = camera.ShownURL(d.PreviewURL)
	}
	t.Codec, t.Rate, t.Transport = r.Codec, r.Rate, r.Transport
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trials = append(s.trials, kept{t.ID, d, known})
	s.trials = s.trials[max(0, len(s.trials)-trialsKept):]
	return t, nil
}

// findStream asks a camera, by its host or the address of its ONVIF service, for its streams.
func findStream(ctx context.Context, d Draft) (Found, error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	var found Found
	var err error
	if IsHost(d.URL) {
		found, err = Find(ctx, d.stream(), Progress{})
	} else {
		found, err = askONVIF(ctx, d.URL, d.stream())
	}
	var none *NoStreamError
	var refused *discover.SignInError
	switch {
	case err == nil:
		return found, nil
	case errors.As(err, &refused), errors.As(err, &none) && none.Why == SignIn:
		if d.Username == "" {
			return found, refuse("The camera asks who you are: give the user name and password that it knows.")
		}
		return found, refuse("The camera does not take this user name and password: %v", err)
	case none != nil && none.Why == Unreachable:
		return found, refuse("%v Is the port right? 10.0.0.5:8554 names another one.", err)
	case none != nil && none.Why == NoPath:
		return found, refuse("%v; write it whole, as rtsp://%s/PATH.", err, d.URL)
	}
	return found, refuse("%v", err)
}

// known puts what the file says of a camera in place of what a draft leaves out: an address that it
// was shown as it is for people, and its password. A password goes to the address that it is for,
// and nowhere else.
func (s *Setup) known(d *Draft) (ownPassword bool, err error) {
	if d.Camera == "" {
		return false, nil
	}
	_, cfg, err := s.read()
	if err != nil {
		return false, err
	}
	c, err := find(cfg, d.Camera)
	if err != nil {
		return false, err
	}
	if d.URL == camera.ShownURL(c.URL) {
		d.URL = c.URL
		if d.PreviewURL == "" || d.PreviewURL == camera.ShownURL(c.PreviewURL) {
			d.PreviewURL = c.PreviewURL
		}
	}
	if !d.Password.IsZero() || c.Password.IsZero() || d.Username == "" {
		return false, nil
	}
	if d.Username != c.Username || hostOf(d.URL) != hostOf(c.URL) || d.PreviewURL != "" &&
		hostOf(d.PreviewURL) != hostOf(c.URL) &&
		d.PreviewURL != c.PreviewURL {
		return false,
			refuse("Give the password again: the one that is kept goes to no other address and no other user.")
	}
	d.Password = c.Password
	return true, nil
}

// tried is a trial by its id.
func (s *Setup) tried(id, camera string) (kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.trials {
		if k.id == id && k.draft.Camera == camera {
			return k, nil
		}
	}
	return kept{}, refuse("This test is too long ago: test the camera again.")
}

// searchTime is how long cameras have to answer a search.
const searchTime = 4 * time.Second

// Search lists the cameras of the network that answer WS-Discovery, ordered by address.
func (s *Setup) Search(ctx context.Context) ([]discover.Device, error) {
	found, err := discover.Search(ctx, discover.Options{Wait: searchTime})
	if err != nil {
		return nil, refuse("The network cannot be searched: %v. A camera's address does as well.", err)
	}
	return found, nil
}
