package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/discover"
)

// usualPaths are where cameras have their main stream, by maker, the most common first. They are
// tried where a camera does not tell them by ONVIF.
var usualPaths = []struct{ path, maker string }{
	{"/Streaming/Channels/101", "Hikvision and its other names"},
	{"/cam/realmonitor?channel=1&subtype=0", "Dahua, Amcrest, Lorex"},
	{"/axis-media/media.amp", "Axis"},
	{"/h264Preview_01_main", "Reolink"},
	{"/stream1", "TP-Link Tapo and others"},
	{"/profile1/media.smp", "Hanwha"},
	{"/media/video1", "Uniview"},
	{"/rtsp_tunnel", "Bosch"},
	{"/videoMain", "Foscam"},
	{"/live/ch0", "many others"},
	{"/live", "many others"},
	{"/11", "many others"},
	{"/video", "programs for phones"},
	{"/cam", "mediamtx"},
	{"/", "some others"},
}

// IsHost reports whether an address is that of a camera, without a path: 10.0.0.5, 10.0.0.5:8554,
// a name.
func IsHost(text string) bool {
	if strings.ContainsAny(text, "/@? ") || text == "" {
		return false
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	host, port, err := net.SplitHostPort(text)
	return err != nil && !strings.Contains(text, ":") || err == nil && host != "" && port != ""
}

// Found is where a camera has its streams.
type Found struct {
	URL, PreviewURL string
	Name, Serial    string // as the camera calls itself by ONVIF; "": it did not say
	By              string // ONVIF, or the maker whose usual path it is
}

// Progress hears what Find does. Either may be nil.
type Progress struct {
	Say func(line string) // reports a result
	Now func(path string) // reports the path under trial
}

func (p Progress) say(format string, args ...any) {
	if p.Say != nil {
		p.Say(fmt.Sprintf(format, args...))
	}
}

// Why is the kind of a NoStreamError.
type Why int

// The reasons why no stream was found.
const (
	TooSlow     Why = iota // the time was over
	Unreachable            // nobody answers at the address and port
	SignIn                 // the camera wants a user name and password, or others
	NoPath                 // it speaks RTSP, but none of the usual paths has a stream
)

// NoStreamError says why a camera's stream was not found.
type NoStreamError struct {
	Host, Port string
	Why        Why
	Err        error // what the camera did; nil for TooSlow and NoPath
}

// Error is a sentence for a person, without a secret.
func (e *NoStreamError) Error() string {
	switch e.Why {
	case TooSlow:
		return e.Host + " has not answered in time"
	case Unreachable, SignIn:
		return e.Err.Error()
	}
	return fmt.Sprintf("%s speaks RTSP, but none of the %d usual paths has a stream: the camera's manual or its own "+
		"pages name it", e.Host, len(usualPaths))
}

// Unwrap is what the camera did.
func (e *NoStreamError) Unwrap() error { return e.Err }

// Find turns the address of a camera, which IsHost, into that of its streams: it asks by ONVIF,
// then tries the usual paths with cfg. It blocks until one is found or ctx is done; the error is a
// *NoStreamError.
func Find(ctx context.Context, cfg camera.Config, p Progress) (Found, error) {
	host, port := cfg.URL, "554"
	if h, named, err := net.SplitHostPort(cfg.URL); err == nil {
		host, port = h, named
	}
	bare := host
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
		bare = "[" + host + "]"
	}
	found, err := askONVIF(ctx, discover.ServiceAddress(bare), cfg)
	var refused *discover.SignInError
	switch {
	case err == nil:
		p.say("%s tells its streams by ONVIF: %s", host, found.URL)
		if found.PreviewURL != "" {
			p.say("a small one for motion: %s", found.PreviewURL)
		}
		return found, nil
	case errors.As(err, &refused):
		p.say("%s knows ONVIF, but: %v", host, err)
	default:
		p.say("%s does not answer ONVIF; trying the usual paths on port %s", host, port)
	}
	for _, usual := range usualPaths {
		if p.Now != nil {
			p.Now(usual.path)
		}
		cfg.URL = "rtsp://" + net.JoinHostPort(host, port) + usual.path
		_, err := camera.Probe(ctx, cfg)
		failure, _ := errors.AsType[*camera.Failure](err)
		switch {
		case err == nil:
			p.say("found %s (%s)", cfg.URL, usual.maker)
			return Found{URL: cfg.URL, By: usual.maker}, nil
		case ctx.Err() != nil:
			return Found{}, &NoStreamError{host, port, TooSlow, nil}
		case failure != nil && failure.State == camera.Unreachable:
			return Found{}, &NoStreamError{host, port, Unreachable, err}
		case failure != nil && failure.State == camera.InvalidCredentials: // a second try might lock the user out
			return Found{}, &NoStreamError{host, port, SignIn, err}
		}
	}
	return Found{}, &NoStreamError{host, port, NoPath, nil}
}

// askONVIF asks a camera's ONVIF service, at its whole address, for its streams.
func askONVIF(ctx context.Context, address string, cfg camera.Config) (Found, error) {
	told, err := discover.Ask(ctx, address, discover.Credentials{User: cfg.Username, Password: cfg.Password})
	if err != nil {
		return Found{}, err
	}
	if len(told.Profiles) == 0 {
		return Found{}, errors.New("it has no video stream")
	}
	main, preview := told.Choose()
	f := Found{URL: main.URL, Name: strings.TrimSpace(told.Manufacturer + " " + told.Model), Serial: told.Serial,
		By: "ONVIF"}
	if preview != nil {
		f.PreviewURL = preview.URL
	}
	return f, nil
}
