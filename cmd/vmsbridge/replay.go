package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"vmsbridge/agent/sight"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/cmd/vmsbridge/replay/truth"
	"vmsbridge/cmd/vmsbridge/replay/watch"
	"vmsbridge/configs"
)

// replayCommand runs recordings through the detector, for tuning a camera and for measuring.
type replayCommand struct {
	Files  []string `arg:"" name:"file" help:"A clip that ffmpeg reads, a folder of numbered images (JPEG, PNG, BMP, TIFF, WebP, PPM), or a pattern of them in quotes."`
	Config string   `short:"c" help:"Configuration with the camera. Default with --camera: $VMSBRIDGE_CONFIG, else ${default_config}." placeholder:"FILE"`
	Camera string   `help:"Detect as for this camera of the configuration: its regions, masks, sensitivity, rate and periods. Default: the default settings." placeholder:"ID"`
	FPS    float64  `name:"fps" help:"Pictures a second of image folders, and of raw streams (.h264, .mjpeg), which have no times. Default: what the stream says, else 25." placeholder:"N"`
	JSON   bool     `name:"json" help:"One JSON object a line for each span, and nothing else on standard output."`
	Masks  string   `help:"Write the activity mask of every picture into this folder, in its size, as 8-bit PNG: bin000001.png for in000001.jpg; for a clip bin and the picture's number from 000000." placeholder:"DIR"`
	Plot   string   `help:"Draw the activity over time with threshold, spans and sample stills." placeholder:"FILE.png"`
	CSV    string   `name:"csv" help:"Score the spans against this label file: columns start_frame,end_frame,kind,tol_frames,note; kinds motion, quiet, present_still, residual." placeholder:"LABELS"`
	Strict bool     `help:"With --csv: exit code 2 if a labelled motion was missed or split, or a span began in quiet."`
}

// exitScore is the exit code of --strict for a score that is not perfect.
const exitScore = 2

// leastFPS is the lowest rate of --fps: a picture a day, and a bit.
const leastFPS = 0.00001

// Help is shown below the flags.
func (replayCommand) Help() string {
	return `Pictures are numbered from 0 as the source has them; start and end are the first and the last picture with motion, both
inclusive; seconds count from the first picture. As in the bridge, about "rate" pictures a second are looked at; masks are
made for every picture. Images of a folder follow one another at --fps, gaps in their numbers do not count; where they
are rare, give their true rate, such as --fps 0.2: of what is seen for a picture or two, masks depend on it. An image that cannot be read is said at the end, and has
the mask of the one before; after one of another size the scene is learned anew. A clip's pictures are all brought to the size of its first.
Masks have all numbers of an image's name where the last alone would be that of several: bin2026_11_22.png.

--json prints type, region, region_name, reason (of tampering), object, start_frame, end_frame, start_s, end_s, best_frame, best_s, boxes
([[left, top, right, bottom], …] as fractions of the picture best_frame), share, continued where the maximum length cut it, and file if there are several. With --csv
the last line is {"type": "score", …}. The summary goes to standard error then.

Exit codes: 0 done, whatever was found; 1 a file could not be read (to its end); 2 with --strict: the score is not perfect;
130 interrupted: what was found so far was printed.`
}

// Run replays the files one after another. One that cannot be read does not keep the others from being replayed.
func (c *replayCommand) Run(ctx context.Context, s streams) error {
	if err := c.check(); err != nil {
		return &exitError{exitUsage, err}
	}
	settings, who, err := c.settings(s)
	if err != nil {
		return err
	}
	var labels []truth.Label
	if c.CSV != "" {
		if labels, err = readLabels(c.CSV); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	show := newReplayShow(s, c.JSON, len(c.Files) > 1)
	code := 0
	for _, file := range c.Files {
		r := replayed{command: c, file: file, settings: settings, camera: who, labels: labels, show: show}
		err := r.run(ctx)
		if exit, ok := errors.AsType[*exitError](err); ok {
			code = max(code, exit.code)
			err = exit.err
		} else if err != nil {
			code = max(code, exitFailed)
		}
		if err != nil {
			say(s.err, err)
		}
		if ctx.Err() != nil {
			return &exitError{code: exitAborted}
		}
	}
	if code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// check finds what does not fit together.
func (c *replayCommand) check() error {
	several := len(c.Files) > 1
	switch {
	case c.Config != "" && c.Camera == "":
		return fmt.Errorf("--config needs --camera: %s", knownCameras(c.Config))
	case c.FPS != 0 && !(c.FPS >= leastFPS && c.FPS <= 1000): // NaN is neither
		return fmt.Errorf("--fps %v is not within %v, a picture a day, to 1000", c.FPS, leastFPS)
	case c.Strict && c.CSV == "":
		return errors.New("--strict needs --csv: it is about the score")
	case c.CSV != "" && several:
		return errors.New("--csv scores one FILE, not several")
	case c.Plot != "" && several:
		return errors.New("--plot draws one FILE, not several")
	case c.Plot != "" && !strings.EqualFold(filepath.Ext(c.Plot), ".png"):
		return fmt.Errorf("--plot writes PNG: name a file such as %s.png", strings.TrimSuffix(c.Plot, filepath.Ext(c.Plot)))
	case c.Plot != "":
		if err := canCreate(c.Plot); err != nil {
			return fmt.Errorf("--plot %s cannot be written: %w", c.Plot, err)
		}
	}
	seen := map[string]bool{}
	for _, f := range c.Files {
		if f == "-" {
			return errors.New("replay reads files: save what would come on standard input first")
		}
		if c.Masks != "" && several && seen[maskFolder(f)] {
			return fmt.Errorf("--masks: two of the files are called %s and would get the same folder; replay them one by one", maskFolder(f))
		}
		seen[maskFolder(f)] = true
	}
	return nil
}

// canCreate tells, before a recording of hours is replayed, whether a file can be written at its end.
func canCreate(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return errors.New("it is a folder")
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("there is no folder %s: make it first", dir)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("the folder %s: %w", dir, err)
	}
	return nil
}

// maskFolder is the folder below --masks for a file, where there are several.
func maskFolder(file string) string {
	base := filepath.Base(filepath.Clean(file))
	return strings.TrimSuffix(base, filepath.Ext(base))
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
func (c *replayCommand) settings(s streams) (watch.Settings, string, error) {
	if c.Camera == "" {
		return settingsOf(configs.CameraMotion{Motion: configs.Default().Motion}), "default settings", nil
	}
	file := configFile{cmp.Or(c.Config, os.Getenv("VMSBRIDGE_CONFIG"), defaultConfig)}
	cfg, err := file.load(s)
	if err != nil {
		return watch.Settings{}, "", err
	}
	for _, cam := range cfg.Cameras {
		if cam.ID == c.Camera {
			return settingsOf(cam.Motion), "camera " + cam.ID, nil
		}
	}
	return watch.Settings{}, "", &exitError{exitUsage, fmt.Errorf("%s has no camera %q: its cameras are %s", file.Config, c.Camera, listCameras(cfg))}
}

func settingsOf(m configs.CameraMotion) watch.Settings {
	s := watch.Settings{Motion: sight.Config(m), Rate: m.Rate}
	if view, wanted := sight.Tamper(m); wanted {
		s.Tamper = &view
	}
	return s
}

func readLabels(path string) ([]truth.Label, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	defer func() { _ = f.Close() }()
	return truth.Read(path, f)
}

// rateNote says that --fps was of no use for a file.
func rateNote(file string, f *footage.Footage, fps float64) string {
	if fps > 0 && f.Info.Timed {
		return fmt.Sprintf("%s has times of its own: --fps was not used for it", file)
	}
	return ""
}
