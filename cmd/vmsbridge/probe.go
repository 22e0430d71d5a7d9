package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/setup"
	"vmsbridge/cmd/cli"
	"vmsbridge/storage/vfs"
)

type probeCommand struct {
	URL                string        `arg:"" optional:"" help:"The stream: rtsp://host:port/path or rtsps://…, without user name and password. Or the camera: 10.0.0.5 or host:port, which is asked by ONVIF and then at the makers' usual paths." placeholder:"URL"`
	Camera             string        `help:"Probe this camera of the configuration instead." placeholder:"ID"`
	User               string        `short:"u" help:"User name. The password is asked for, or taken from --password-file or $VMSBRIDGE_CAMERA_PASSWORD." placeholder:"NAME"`
	PasswordFile       string        `help:"File with the password." placeholder:"FILE"`
	Transport          string        `enum:"auto,tcp,udp,multicast" default:"auto" help:"auto, tcp, udp or multicast."`
	AllowInsecureBasic bool          `help:"Let basic sign-in send the password in clear."`
	TLSInsecure        bool          `name:"tls-insecure" help:"Accept any certificate of an rtsps camera."`
	TLSFingerprint     string        `name:"tls-fingerprint" help:"Accept only the certificate with this SHA-256." placeholder:"HEX"`
	Timeout            time.Duration `default:"20s" help:"Give up after this time."`
	Output             string        `short:"o" default:"still.jpg" help:"Where to write the still; - for standard output, empty for none." placeholder:"FILE"`
	JSON               bool          `name:"json" help:"Print JSON."`
	configFile
}

// probed is what probe prints as JSON.
type probed struct {
	URL        string            `json:"url"`
	Server     string            `json:"server,omitempty"`
	Offers     []camera.Offer    `json:"offers"`
	Codec      camera.Codec      `json:"codec,omitempty"`
	Width      int               `json:"width,omitempty"`
	Height     int               `json:"height,omitempty"`
	Rate       float64           `json:"picturesPerSecond,omitempty"`
	Keyframes  float64           `json:"secondsBetweenKeyframes,omitempty"`
	Transport  string            `json:"transport,omitempty"`
	SignIn     string            `json:"signIn,omitempty"`
	FirstUnit  float64           `json:"secondsToFirstAccessUnit,omitempty"`
	FirstImage float64           `json:"secondsToFirstPicture,omitempty"`
	ClockAhead *float64          `json:"cameraClockAheadSeconds,omitempty"`
	State      camera.State      `json:"state"`
	Problem    string            `json:"problem,omitempty"`
	Still      map[string]string `json:"still,omitempty"`
}

// Run connects once, reports what it saw also if it failed halfway, and saves the first picture.
func (c *probeCommand) Run(ctx context.Context, s streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	cfg, libraries, err := c.target(s)
	if err != nil {
		return err
	}
	if setup.IsHost(c.URL) {
		findCtx, cancel := context.WithTimeout(ctx, c.Timeout)
		cfg, err = c.find(findCtx, cfg, s)
		cancel()
		if ctx.Err() != nil {
			return cli.Exit(exitAborted, errors.New("probe: interrupted"))
		}
		if err != nil {
			return err
		}
	}
	probeCtx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r, err := camera.Probe(probeCtx, cfg)
	p := describe(cfg.URL, r, err)
	if ctx.Err() != nil {
		return cli.Exit(exitAborted, errors.New("probe: interrupted"))
	}
	var still setup.Picture
	if err == nil {
		still, err = setup.FirstPicture(ctx, r, libraries)
		if err == nil {
			p.FirstImage = round((r.FirstUnit + still.Took).Seconds())
			p.Width, p.Height = still.Width, still.Height
			err = c.save(&p, still, s)
		} else {
			err = fmt.Errorf("decode the first picture: %w", err)
		}
		if err != nil {
			p.Problem = err.Error()
		}
	}
	if printErr := c.print(p, s); printErr != nil {
		return printErr
	}
	if err != nil {
		return fmt.Errorf("probe %s: %w", cfg.URL, err)
	}
	return nil
}

// target says what to probe: a camera of the configuration, or the URL of the command line.
func (c *probeCommand) target(s streams) (camera.Config, []string, error) {
	usage := func(format string, args ...any) (camera.Config, []string, error) {
		return camera.Config{}, nil, cli.Exit(exitUsage, fmt.Errorf(format, args...))
	}
	if (c.URL == "") == (c.Camera == "") {
		return usage("say either an address, such as 10.0.0.5 or rtsp://10.0.0.5:554/stream1, or --camera ID for one " +
			"of the configuration")
	}
	if c.Camera != "" {
		cfg, err := c.load(s)
		if err != nil {
			return camera.Config{}, nil, err
		}
		var known []string
		for _, cam := range cfg.Cameras {
			known = append(known, cam.ID)
			if cam.ID == c.Camera {
				return camera.Config{URL: cam.URL, Username: cam.Username, Password: cam.Password.Reveal(),
						Transport:          cam.Transport,
						AllowInsecureBasic: cam.AllowInsecureBasic,
						TLS: camera.TLS{InsecureSkipVerify: cam.TLSInsecure,
							Fingerprint: cam.TLSFingerprint}},
					cfg.Decode.Libraries, nil
			}
		}
		return camera.Config{}, nil, cli.Unknown("camera", c.Camera, c.Config, known)
	}
	u, err := url.Parse(c.URL)
	switch {
	case (err == nil && u.User != nil) || (err != nil && strings.Contains(c.URL, "@")):
		return usage("the address holds a user name or password, which other users of this machine can see: use " +
			"--user, and the password is asked for")
	case setup.IsHost(c.URL):
	case err != nil || (u.Scheme != "rtsp" && u.Scheme != "rtsps") || u.Hostname() == "":
		return usage("the address must be 10.0.0.5, host:port, rtsp://host:port/path or rtsps://host:port/path")
	}
	password, err := password(s, c.User, c.PasswordFile)
	if err != nil {
		return camera.Config{}, nil, err
	}
	return camera.Config{URL: c.URL, Username: c.User, Password: password, Transport: c.Transport,
		AllowInsecureBasic: c.AllowInsecureBasic,
		TLS:                camera.TLS{InsecureSkipVerify: c.TLSInsecure, Fingerprint: c.TLSFingerprint}}, nil, nil
}

func describe(address string, r camera.Report, err error) probed {
	p := probed{URL: address, Server: r.Server, Offers: r.Offers, Codec: r.Codec, Width: r.Width, Height: r.Height,
		Rate:      round(r.Rate),
		Keyframes: round(r.Keyframes.Seconds()), Transport: r.Transport, SignIn: r.SignIn,
		FirstUnit: round(r.FirstUnit.Seconds()), State: camera.Online}
	if r.CameraClockKnown {
		ahead := round(r.CameraClock.Seconds())
		p.ClockAhead = &ahead
	}
	if err != nil {
		p.State, p.Problem = "", err.Error()
		if f, ok := errors.AsType[*camera.Failure](err); ok {
			p.State, p.Problem = f.State, f.Reason
		}
	}
	return p
}

func round(f float64) float64 { return float64(int64(f*1000+0.5)) / 1000 }

func (c *probeCommand) save(p *probed, st setup.Picture, s streams) error {
	switch c.Output {
	case "":
		return nil
	case "-":
		_, err := s.out.Write(st.JPEG)
		return err
	}
	if err := vfs.Replace(c.Output, st.JPEG, 0o644, -1, -1); err != nil {
		return fmt.Errorf("write the still: %w", err)
	}
	p.Still = map[string]string{"file": c.Output,
		"size": fmt.Sprintf("%dx%d, %d bytes", st.Width, st.Height, len(st.JPEG))}
	return nil
}

// print writes to standard output, or beside it when the still goes there.
func (c *probeCommand) print(p probed, s streams) error {
	out := s.out
	if c.Output == "-" {
		out = s.err
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(p)
	}
	line := func(w io.Writer, name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%-11s"+format+"\n", append([]any{name}, args...)...)
	}
	server := ""
	if p.Server != "" {
		server = " (" + p.Server + ")"
	}
	line(out, "camera", "%s%s", p.URL, server)
	for _, o := range p.Offers {
		use := ""
		if o.Kind == "video" && !o.Supported {
			use = ", not supported here"
		}
		line(out, "offers", "%s %s%s", o.Kind, o.Codec, use)
	}
	if p.Codec != "" {
		line(out, "video", "%s %dx%d, %.1f pictures/s%s", strings.ToUpper(string(p.Codec)), p.Width, p.Height, p.Rate,
			keyframes(p))
	}
	if p.Transport != "" {
		signIn := p.SignIn
		if signIn == "" {
			signIn = "none"
		}
		line(out, "transport", "%s, sign-in: %s", p.Transport, signIn)
	}
	if p.FirstUnit > 0 {
		line(out, "first", "access unit after %.2f s, picture after %.2f s", p.FirstUnit, p.FirstImage)
	}
	if p.ClockAhead != nil {
		line(out, "clock", "the camera's is %+.2f s against this machine's", *p.ClockAhead)
	}
	if p.Still != nil {
		line(out, "still", "%s, %s", p.Still["file"], p.Still["size"])
	}
	if p.State != camera.Online {
		line(out, "state", "%s", p.State)
	}
	return nil
}

func keyframes(p probed) string {
	if p.Keyframes == 0 {
		return ""
	}
	return fmt.Sprintf(", a keyframe every %.1f s", p.Keyframes)
}
