package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"vmsbridge/agent/pipeline"
	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/configs"
)

// Command is the command line, as kong reads it.
type Command struct {
	Files  []string `arg:"" name:"file" help:"A clip that ffmpeg reads."`
	Config string   `short:"c" help:"Configuration with the camera. Default with --camera: $VMSBRIDGE_CONFIG, else /etc/vmsbridge/vmsbridge.yaml." placeholder:"FILE"`
	Camera string   `help:"Detect as for this camera of the configuration: its regions, masks, lines, areas, sensitivity, rate and periods. Default: the default settings." placeholder:"ID"`
	FPS    float64  `name:"fps" help:"Pictures a second of raw streams (.h264, .mjpeg), which have no times. Default: what the stream says, else 25." placeholder:"N"`
	JSON   bool     `name:"json" help:"One JSON object a line for each span, and nothing else on standard output."`
	CSV    string   `name:"csv" help:"Score the spans against this label file: columns start_frame,end_frame,kind,tol_frames,note; kinds motion, quiet, present_still, residual." placeholder:"LABELS"`
	Strict bool     `help:"With --csv: exit code 2 if a labelled motion was missed or split, or a span began in quiet."`
}

// Program is the one that replays.
type Program struct {
	Name     string // before what it says
	Out, Err io.Writer
	// Load reads a configuration.
	Load func(path string) (*configs.Config, error)
	// Open opens a recording; nil is footage.Open.
	Open func(ctx context.Context, path string, o footage.Options) (*footage.Footage, error)
	// Begin returns what else looks at a recording, once it is open; nil is nothing.
	Begin func(r *Recording) (Observer, error)
}

// Observer looks at a recording beside the detector.
type Observer interface {
	// Picture is called for each picture, with what the detector found in it.
	Picture(p footage.Picture, s Seen) error
	// Event is called for each span when it has ended.
	Event(ev Event)
	// Finish is called at the end, if there was a picture.
	Finish() error
	// Close is called once whatever happened; err is what Run is about to return, which Close may
	// join.
	Close(err error) error
}

// Exit codes.
const (
	failed = 1
	scored = 2 // of Strict, for a score that is not perfect
	usage  = 64
)

// Exit is an error with the exit code of the program. Err is nil where everything was said already.
type Exit struct {
	Code int
	Err  error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// leastFPS is the lowest rate of FPS: a picture a day, and a bit.
const leastFPS = 0.00001

// Run replays the files one after another. One that cannot be read does not keep the others from
// being replayed.
func (c *Command) Run(ctx context.Context, p Program) error {
	if err := c.check(); err != nil {
		return &Exit{usage, err}
	}
	settings, who, err := c.settings(p)
	if err != nil {
		return err
	}
	var labels []Label
	if c.CSV != "" {
		if labels, err = readLabels(c.CSV); err != nil {
			return err
		}
	}
	ctx, done := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer done()
	show := newShow(p, c.JSON, len(c.Files) > 1)
	code := 0
	for _, file := range c.Files {
		r := Recording{File: file, Several: len(c.Files) > 1, Settings: settings, Camera: who, Labels: labels,
			command: c, program: p, show: show}
		err := r.run(ctx)
		if exit, ok := errors.AsType[*Exit](err); ok {
			code = max(code, exit.Code)
			err = exit.Err
		} else if err != nil {
			code = max(code, failed)
		}
		if err != nil {
			show.note(err.Error())
		}
		if ctx.Err() != nil {
			return &Exit{Code: cli.Aborted}
		}
	}
	if code != 0 {
		return &Exit{Code: code}
	}
	return nil
}

// check finds what does not fit together.
func (c *Command) check() error {
	switch {
	case c.Config != "" && c.Camera == "":
		return fmt.Errorf("--config needs --camera: %s", knownCameras(c.Config))
	case c.FPS != 0 && !(c.FPS >= leastFPS && c.FPS <= 1000): // NaN is neither
		return fmt.Errorf("--fps %v is not within %v, a picture a day, to 1000", c.FPS, leastFPS)
	case c.Strict && c.CSV == "":
		return errors.New("--strict needs --csv: it is about the score")
	case c.CSV != "" && len(c.Files) > 1:
		return errors.New("--csv scores one FILE, not several")
	}
	for _, f := range c.Files {
		if f == "-" {
			return errors.New("replay reads files: save what would come on standard input first")
		}
	}
	return nil
}

// knownCameras lists the cameras of a configuration, for a hint.
func knownCameras(file string) string {
	cfg, err := configs.Load(file)
	if err != nil {
		return "say which of its cameras"
	}
	return "its cameras are " + listCameras(cfg)
}

func listCameras(cfg *configs.Config) string {
	var ids []string
	for _, cam := range cfg.Cameras {
		ids = append(ids, cam.ID)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// settings are the camera's, or the defaults, and whose they are in words.
func (c *Command) settings(p Program) (Settings, string, error) {
	if c.Camera == "" {
		return settingsOf(configs.CameraMotion{Motion: configs.Default().Motion}), "default settings", nil
	}
	file := cmp.Or(c.Config, os.Getenv("VMSBRIDGE_CONFIG"), "/etc/vmsbridge/vmsbridge.yaml")
	cfg, err := p.Load(file)
	if err != nil {
		return Settings{}, "", err
	}
	var known []string
	for _, cam := range cfg.Cameras {
		known = append(known, cam.ID)
		if cam.ID == c.Camera {
			return settingsOf(cam.Motion), "camera " + cam.ID, nil
		}
	}
	return Settings{}, "", cli.Unknown("camera", c.Camera, file, known)
}

func settingsOf(m configs.CameraMotion) Settings {
	s := Settings{Motion: pipeline.DetectorConfig(m), Rate: m.Rate}
	if view, wanted := pipeline.TamperConfig(m); wanted {
		s.Tamper = &view
	}
	if lines, wanted := pipeline.RuleConfig(m); wanted {
		s.Rules = &lines
	}
	return s
}

func readLabels(path string) ([]Label, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	defer func() { _ = f.Close() }()
	return ReadLabels(path, f)
}

// rateNote says that --fps was of no use for a file.
func rateNote(file string, f *footage.Footage, fps float64) string {
	if fps > 0 && f.Info.Timed {
		return fmt.Sprintf("%s has times of its own: --fps was not used for it", file)
	}
	return ""
}
