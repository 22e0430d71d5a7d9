package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/discover"
	"vmsbridge/cmd/cli"
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

// isHost reports whether what is to be probed is an address without a path: 10.0.0.5, 10.0.0.5:8554,
// a name.
func isHost(text string) bool {
	if strings.ContainsAny(text, "/@? ") || text == "" {
		return false
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	host, port, err := net.SplitHostPort(text)
	return err != nil && !strings.Contains(text, ":") || err == nil && host != "" && port != ""
}

// find turns the address of a camera into that of its stream: it asks by ONVIF, then tries the
// usual paths. It says on standard error what it does.
func (c *probeCommand) find(ctx context.Context, cfg camera.Config, s streams) (camera.Config, error) {
	host, port := c.URL, "554"
	if h, p, err := net.SplitHostPort(c.URL); err == nil {
		host, port = h, p
	}
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(s.err, format+"\n", args...)
	}
	bare := host
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
		bare = "[" + host + "]"
	}
	onvif, err := discover.Ask(ctx, discover.ServiceAddress(bare), discover.Credentials{User: cfg.Username,
		Password: cfg.Password})
	if err == nil && len(onvif.Profiles) > 0 {
		main, preview := onvif.Choose()
		say("%s tells its streams by ONVIF: %s", host, main.URL)
		if preview != nil {
			say("a small one for motion: %s", preview.URL)
		}
		cfg.URL = main.URL
		return cfg, nil
	}
	var refused *discover.SignInError
	if errors.As(err, &refused) {
		say("%s knows ONVIF, but: %v", host, err)
	} else {
		say("%s does not answer ONVIF; trying the usual paths on port %s", host, port)
	}
	progress := cli.NewProgress(s.err)
	defer progress.End()
	for _, usual := range usualPaths {
		progress.Now("trying %s", usual.path)
		try := cfg
		try.URL = "rtsp://" + net.JoinHostPort(host, port) + usual.path
		_, err := camera.Probe(ctx, try)
		failure, _ := errors.AsType[*camera.Failure](err)
		switch {
		case err == nil:
			progress.End()
			say("found %s (%s)", try.URL, usual.maker)
			return try, nil
		case ctx.Err() != nil:
			return cfg, fmt.Errorf("probe %s: no path has answered in time: give it longer with --timeout 60s, or name "+
				"the whole rtsp:// address", host)
		case failure != nil && failure.State == camera.Unreachable:
			return cfg, fmt.Errorf("probe %s: %w; is the port right? HOST:PORT names another one", host, err)
		case failure != nil && failure.State == camera.InvalidCredentials: // a second try might lock the user out
			if cfg.Username == "" {
				return cfg, fmt.Errorf("probe %s: it asks who you are: say so with --user NAME", host)
			}
			return cfg, fmt.Errorf("probe %s: %w", host, err)
		}
	}
	return cfg, fmt.Errorf("probe %s: it speaks RTSP, but none of the %d usual paths has a stream: the camera's manual "+
		"or its own pages name it; then vmsbridge probe rtsp://%s:%s/PATH", host, len(usualPaths), bare, port)
}
