package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
func (s *Setup) Add(ctx context.Context, d Draft) (string, error) {
	if err := d.check(); err != nil {
		return "", err
	}
	done, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	content, cfg, err := s.read()
	if err != nil {
		return "", err
	}
	for _, known := range cfg.Cameras {
		if known.URL == d.URL {
			return "", refuse("This stream is watched already, by the camera %s.", known.Name)
		}
	}
	cam := configs.Camera{ID: freeID(cfg, d.Name), Name: d.Name, URL: d.URL, PreviewURL: d.PreviewURL,
		Username: d.Username, AllowInsecureBasic: d.AllowInsecureBasic}
	secret := ""
	if !d.Password.IsZero() {
		cam.PasswordFile = secretName(cam.ID)
		secret = s.beside(cam.PasswordFile)
	}
	undo, err := s.keepSecret(secret, d.Password)
	if err != nil {
		return "", err
	}
	changed, err := configs.AddCamera(s.opts.File, content, configs.Section(cam))
	if err != nil {
		return "", errors.Join(inWords(err), undo())
	}
	return cam.ID, s.put(ctx, content, changed, undo)
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

// Change is what is to be another one of a camera.
type Change struct {
	Name    string // "": stays
	Enabled *bool  // nil: stays
	Trial   string // of Try with the camera's id: its addresses, user and password; "": they stay
}

// Change changes a camera in the file and has the bridge take it over.
func (s *Setup) Change(ctx context.Context, id string, c Change) error {
	done, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	content, cfg, err := s.read()
	if err != nil {
		return err
	}
	now, err := find(cfg, id)
	if err != nil {
		return err
	}
	var edits []configs.Edit
	if c.Name != "" && c.Name != now.Name {
		if err := checkName(c.Name); err != nil {
			return err
		}
		edits = append(edits, configs.Edit{Key: "name", Value: c.Name})
	}
	if c.Enabled != nil && *c.Enabled != now.Enabled {
		edits = append(edits, configs.Edit{Key: "enabled", Value: strconv.FormatBool(*c.Enabled)})
	}
	secret, password := "", configs.Secret{}
	if c.Trial != "" {
		k, err := s.tried(c.Trial, id)
		if err != nil {
			return err
		}
		d := k.draft
		edits = append(edits, configs.Edit{Key: "url", Value: d.URL},
			configs.Edit{Key: "preview_url", Value: d.PreviewURL},
			configs.Edit{Key: "username", Value: d.Username})
		if d.AllowInsecureBasic != now.AllowInsecureBasic {
			edits = append(edits,
				configs.Edit{Key: "allow_insecure_basic", Value: strconv.FormatBool(d.AllowInsecureBasic)})
		}
		if !k.known {
			file := ""
			if password = d.Password; !password.IsZero() {
				file = secretName(id)
				secret = s.beside(file)
			}
			edits = append(edits, configs.Edit{Key: "password"}, configs.Edit{Key: "password_file", Value: file})
		}
	}
	undo, err := s.keepSecret(secret, password)
	if err != nil {
		return err
	}
	changed, err := configs.ChangeCamera(s.opts.File, content, id, edits...)
	if err != nil {
		return errors.Join(inWords(err), undo())
	}
	return s.put(ctx, content, changed, undo)
}

// Remove takes a camera out of the file, with the file of its password, and has the bridge take it
// over. Its events and stills stay until they are too old.
func (s *Setup) Remove(ctx context.Context, id string) error {
	done, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	content, cfg, err := s.read()
	if err != nil {
		return err
	}
	gone, err := find(cfg, id)
	if err != nil {
		return err
	}
	changed, err := configs.RemoveCamera(s.opts.File, content, id)
	if err != nil {
		return inWords(err)
	}
	if err := s.put(ctx, content, changed, func() error { return nil }); err != nil {
		return err
	}
	if own := s.beside(secretName(id)); gone.PasswordFile == own {
		for _, c := range cfg.Cameras {
			if c.ID != id && c.PasswordFile == own {
				return nil // another one uses it
			}
		}
		if err := os.Remove(own); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return refuse("The camera is removed, but not the file of its password: %v.", err)
		}
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

// begin waits until nobody else changes the file.
func (s *Setup) begin(ctx context.Context) (done func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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

// inWords makes a Refusal of what is wrong with the file.
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

// keepSecret writes a password's file; "" is none. undo brings back what was there before.
func (s *Setup) keepSecret(path string, secret configs.Secret) (undo func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.cannotWrite(err)
	}
	undo = func() error { return os.Remove(path) }
	if err == nil {
		undo = func() error { return WriteSecret(path, strings.TrimRight(string(before), "\n")) }
	}
	if err := WriteSecret(path, secret.Reveal()); err != nil {
		return nil, s.cannotWrite(err)
	}
	return undo, nil
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
// about, the file is what it was, and undo has brought its secrets back.
func (s *Setup) put(ctx context.Context, before, changed []byte, undo func() error) error {
	ctx = context.WithoutCancel(ctx) // a browser that goes away leaves nothing half done
	now, err := os.ReadFile(s.opts.File)
	switch {
	case err != nil:
		return errors.Join(s.cannotWrite(err), undo())
	case !bytes.Equal(now, before):
		return errors.Join(refuse("The configuration was changed by somebody else just now: try again."), undo())
	}
	if err := ReplaceFile(s.opts.File, changed); err != nil {
		return errors.Join(s.cannotWrite(err), undo())
	}
	problems, err := s.opts.Reload(ctx)
	if err == nil && len(problems) == 0 {
		return nil
	}
	if err == nil {
		err = errors.New(strings.Join(problems, "; "))
	}
	if back := errors.Join(undo(), ReplaceFile(s.opts.File, before)); back != nil {
		return fmt.Errorf("bring the configuration back: %w", back)
	}
	_, _ = s.opts.Reload(ctx) // it is the one that runs; health says no more that it is bad
	return refuse("The bridge does not take it over: %v.", err)
}
