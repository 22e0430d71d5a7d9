package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vmsbridge/agent/camera"
	"vmsbridge/configs"
)

// Options of New. All must be set.
type Options struct {
	// File is the configuration's.
	File string
	// Reload has the bridge read it anew; problems mean that it goes on with the one that it had.
	Reload func(ctx context.Context) (problems []string, err error)
	// Libraries are folders that are searched for libavcodec before the system's.
	Libraries func() []string
}

// Setup changes the cameras of the configuration of a bridge that runs. Its methods are safe for
// concurrent use.
type Setup struct {
	opts   Options
	turn   chan struct{} // holds one while somebody changes the file
	trying chan struct{} // holds one for each trial under way

	mu     sync.Mutex // guards trials
	trials []kept
}

// New makes one. It reads nothing yet.
func New(o Options) *Setup {
	return &Setup{opts: o, turn: make(chan struct{}, 1), trying: make(chan struct{}, trialsAtOnce)}
}

// Camera is what the file says of a camera, without its password.
type Camera struct {
	ID, Name           string
	URL, PreviewURL    string // for people: see camera.ShownURL
	Username           string
	HasPassword        bool
	AllowInsecureBasic bool
	Enabled            bool
}

// Cameras lists those of the file, in its order.
func (s *Setup) Cameras() ([]Camera, error) {
	_, cfg, err := s.read()
	if err != nil {
		return nil, err
	}
	list := []Camera{}
	for _, c := range cfg.Cameras {
		one := Camera{ID: c.ID, Name: c.Name, URL: camera.ShownURL(c.URL), Username: c.Username,
			HasPassword: !c.Password.IsZero(), AllowInsecureBasic: c.AllowInsecureBasic, Enabled: c.Enabled}
		if c.PreviewURL != "" {
			one.PreviewURL = camera.ShownURL(c.PreviewURL)
		}
		list = append(list, one)
	}
	return list, nil
}

// Add writes a camera into the file and has the bridge watch it. It returns the camera's id, made
// of its name.
func (s *Setup) Add(ctx context.Context, d Draft) (id string, err error) {
	if err := d.check(); err != nil {
		return "", err
	}
	err = s.edit(ctx, func(e *edit) (err error) {
		for _, known := range e.cfg.Cameras {
			if known.URL == d.URL {
				return refuse("This stream is watched already, by the camera %s.", known.Name)
			}
		}
		id = freeID(e.cfg, d.Name)
		cam := configs.Camera{ID: id, Name: d.Name, URL: d.URL, PreviewURL: d.PreviewURL,
			Username: d.Username, AllowInsecureBasic: d.AllowInsecureBasic}
		if cam.PasswordFile, err = e.keepSecret(id, d.Password); err == nil {
			e.content, err = configs.AddCamera(s.opts.File, e.content, configs.Section(cam))
		}
		return err
	})
	return id, err
}

// AddTried adds the camera of a trial under a name.
func (s *Setup) AddTried(ctx context.Context, trial, name string) (string, error) {
	k, err := s.tried(trial, "")
	if err != nil {
		return "", err
	}
	k.draft.Name = name
	return s.Add(ctx, k.draft)
}

// Change is a change of a camera. Fields with their zero values stay as they are.
type Change struct {
	Name    string // "": stays
	Enabled *bool  // nil: stays
	Trial   string // of Try with the camera's id: its addresses, user and password; "": they stay
}

// Change changes a camera in the file and has the bridge take it over.
func (s *Setup) Change(ctx context.Context, id string, c Change) error {
	return s.edit(ctx, func(e *edit) error {
		now, err := find(e.cfg, id)
		if err != nil {
			return err
		}
		var edits []configs.Edit
		set := func(key, value string) { edits = append(edits, configs.Edit{Key: key, Value: value}) }
		if c.Name != "" && c.Name != now.Name {
			if err := checkName(c.Name); err != nil {
				return err
			}
			set("name", c.Name)
		}
		if c.Enabled != nil && *c.Enabled != now.Enabled {
			set("enabled", strconv.FormatBool(*c.Enabled))
		}
		if c.Trial != "" {
			k, err := s.tried(c.Trial, id)
			if err != nil {
				return err
			}
			d := k.draft
			set("url", d.URL)
			set("preview_url", d.PreviewURL)
			set("username", d.Username)
			if d.AllowInsecureBasic != now.AllowInsecureBasic {
				set("allow_insecure_basic", strconv.FormatBool(d.AllowInsecureBasic))
			}
			if !k.known {
				file, err := e.keepSecret(id, d.Password)
				if err != nil {
					return err
				}
				set("password", "")
				set("password_file", file)
			}
		}
		e.content, err = configs.ChangeCamera(s.opts.File, e.content, id, edits...)
		return err
	})
}

// Remove takes a camera out of the file, with the file of its password, and has the bridge take it
// over. Its events and stills stay until they are too old.
func (s *Setup) Remove(ctx context.Context, id string) error {
	own, used := s.beside(secretName(id)), false // by another camera, or by none
	err := s.edit(ctx, func(e *edit) error {
		gone, err := find(e.cfg, id)
		used = gone.PasswordFile != own || slices.ContainsFunc(e.cfg.Cameras,
			func(c configs.Camera) bool { return c.ID != id && c.PasswordFile == own })
		if err == nil {
			e.content, err = configs.RemoveCamera(s.opts.File, e.content, id)
		}
		return err
	})
	if err != nil || used {
		return err
	}
	if err := os.Remove(own); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refuse("The camera is removed, but not the file of its password: %v.", err)
	}
	return nil
}

func find(cfg *configs.Config, id string) (configs.Camera, error) {
	for _, c := range cfg.Cameras {
		if c.ID == id {
			return c, nil
		}
	}
	return configs.Camera{}, refuse("There is no camera %s any more.", id)
}

// edit is a change of the file under way.
type edit struct {
	*Setup
	cfg     *configs.Config
	content []byte       // to be changed
	undo    func() error // brings back the file of a password
}

// edit changes the file while nobody else does, and has the bridge take it over. An error leaves
// everything as it was.
func (s *Setup) edit(ctx context.Context, change func(e *edit) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	content, cfg, err := s.read()
	if err != nil {
		return err
	}
	e := &edit{Setup: s, cfg: cfg, content: content}
	if err := change(e); err != nil {
		return e.back(inWords(err))
	}
	if e.undo == nil && bytes.Equal(e.content, content) {
		return nil
	}
	return e.put(ctx, content)
}

// back is an error, with which the file of a password is what it was.
func (e *edit) back(err error) error {
	if e.undo == nil {
		return err
	}
	return errors.Join(err, e.undo())
}

// read is the file as it is now.
func (s *Setup) read() ([]byte, *configs.Config, error) {
	content, err := os.ReadFile(s.opts.File)
	if err != nil {
		return nil, nil, refuse("The configuration cannot be read: %v.", err)
	}
	cfg, err := configs.Parse(s.opts.File, content)
	if err != nil {
		return nil, nil, refuse("The configuration has problems; put them right first: %s", oneLine(err))
	}
	return content, cfg, nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// inWords makes a Refusal of the file's problems.
func inWords(err error) error {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	return refuse("This was not written: %s.", strings.TrimRight(oneLine(err), "."))
}

func secretName(id string) string { return filepath.Join("secrets", id+".password") }

// beside is a path that counts from the file's folder.
func (s *Setup) beside(path string) string {
	path = filepath.Join(filepath.Dir(s.opts.File), path)
	if abs, err := filepath.Abs(path); err == nil {
		return abs // as configs has it
	}
	return path
}

// keepSecret writes the file of a camera's password, and returns its name; "" where there is none.
func (e *edit) keepSecret(id string, secret configs.Secret) (name string, err error) {
	if secret.IsZero() {
		return "", nil
	}
	name = secretName(id)
	path := e.beside(name)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", e.cannotWrite(err)
	}
	undo := func() error { return os.Remove(path) }
	if err == nil {
		undo = func() error { return WriteSecret(path, strings.TrimRight(string(before), "\n")) }
	}
	if err := WriteSecret(path, secret.Reveal()); err != nil {
		return "", e.cannotWrite(err)
	}
	e.undo = undo
	return name, nil
}

func (s *Setup) cannotWrite(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) {
		folder := filepath.Dir(s.opts.File)
		return refuse("The bridge may not write its configuration (%v). Let its group write the folder, by chmod "+
			"g+ws %s, "+
			"or change the file by hand.", err, folder)
	}
	return refuse("The configuration cannot be written: %v.", err)
}

// put gives the file its new content and has the bridge take it over. Where that does not come
// about, both files are what they were.
func (e *edit) put(ctx context.Context, before []byte) error {
	ctx = context.WithoutCancel(ctx) // a browser that goes away leaves nothing half done
	now, err := os.ReadFile(e.opts.File)
	switch {
	case err != nil:
		return e.back(e.cannotWrite(err))
	case !bytes.Equal(now, before):
		return e.back(refuse("The configuration was changed by somebody else just now: try again."))
	}
	if err := ReplaceFile(e.opts.File, e.content); err != nil {
		return e.back(e.cannotWrite(err))
	}
	problems, err := e.opts.Reload(ctx)
	if err == nil && len(problems) == 0 {
		return nil
	}
	if err == nil {
		err = errors.New(strings.Join(problems, "; "))
	}
	if back := errors.Join(e.back(nil), ReplaceFile(e.opts.File, before)); back != nil {
		return fmt.Errorf("bring the configuration back: %w", back)
	}
	_, _ = e.opts.Reload(ctx) // it is the one that runs; health says no more that it is bad
	return refuse("The bridge does not take it over: %v.", err)
}
