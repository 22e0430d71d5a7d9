package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vmsbridge/agent/setup"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/storage/vfs"
)

// section is a camera as it goes into the configuration.
type section struct {
	camera  configs.Camera
	comment string
}

// makeSections turns what was found into cameras, those that told their streams. Ids are made of
// what does not change when a camera gets another address.
func makeSections(found []finding, user string, secret bool) []section {
	taken := map[string]bool{}
	var list []section
	for _, f := range found {
		if f.err != nil {
			continue
		}
		main, preview := f.camera.Choose()
		id := setup.CameraID(f.camera.Serial)
		for _, other := range []string{f.device.ID, f.device.Hardware + "-" + f.host(), f.host()} {
			if id == "" || taken[id] {
				id = setup.CameraID(other)
			}
		}
		if taken[id] {
			continue // the same camera, by another address
		}
		taken[id] = true
		cam := configs.Camera{ID: id, Name: f.name(), URL: main.URL, Username: user}
		if preview != nil {
			cam.PreviewURL = preview.URL
		}
		if secret {
			cam.PasswordFile = "secrets/" + id + ".password"
		}
		list = append(list,
			section{cam,
				strings.TrimSpace(strings.Join([]string{f.camera.Manufacturer, f.camera.Model, f.camera.Firmware, "at",
					f.host()}, " "))})
	}
	return list
}

// add puts the sections that the configuration does not have yet into its file, one after the
// other, and the password into a file for each. Each step leaves a configuration that can be
// loaded.
func (c *discoverCommand) add(sections []section, secret string, s streams) error {
	content, err := begun(c.Config)
	if err != nil {
		return fmt.Errorf("add cameras: %w", err)
	}
	added := 0
	for _, sec := range sections {
		cfg, err := configs.Parse(c.Config, content)
		if err != nil {
			return addProblem(c.Config, err, s)
		}
		if known := knownCamera(cfg, sec.camera); known != "" {
			_, _ = fmt.Fprintf(s.out, "%s is there already, as %s\n", sec.camera.ID, known)
			continue
		}
		if sec.camera.PasswordFile != "" {
			path := filepath.Join(filepath.Dir(c.Config), sec.camera.PasswordFile)
			if err := setup.WriteSecret(path, secret); err != nil {
				return fmt.Errorf("add camera %s: %w", sec.camera.ID, err)
			}
		}
		changed, err := configs.AddCamera(c.Config, content, configs.Section(sec.camera, sec.comment))
		if err != nil {
			return addProblem(c.Config, err, s)
		}
		if err := setup.ReplaceFile(c.Config, changed); err != nil {
			return fmt.Errorf("add camera %s: %w", sec.camera.ID, err)
		}
		content = changed
		added++
		_, _ = fmt.Fprintf(s.out, "added %s: %s\n", sec.camera.ID, sec.camera.Name)
	}
	if added == 0 {
		_, _ = fmt.Fprintf(s.out, "nothing to add to %s\n", c.Config)
		return nil
	}
	_, _ = fmt.Fprintf(s.out, "%s added to %s\n", counted(added, "camera"), c.Config)
	return nil
}

func addProblem(path string, err error, s streams) error {
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		for _, p := range problems {
			_, _ = fmt.Fprintln(s.err, p)
		}
		return cli.Exit(exitConfig, fmt.Errorf("%s in %s: correct them first, nothing was changed",
			counted(len(problems), "problem"), path))
	}
	return err
}

// knownCamera is the id of the camera in the configuration that has the id or the stream of c, or
// "".
func knownCamera(cfg *configs.Config, c configs.Camera) string {
	for _, k := range cfg.Cameras {
		if k.ID == c.ID || k.URL == c.URL {
			return k.ID
		}
	}
	return ""
}

// begun is the content of the configuration. One that is not there is made, empty, where its folder
// is there; the group of the folder may read it.
func begun(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%w; make the folder, or name another file with --config", err)
	}
	_, gid := setup.OwnerOf(info)
	if os.Geteuid() != 0 {
		gid = -1
	}
	return nil, vfs.Replace(path, nil, 0o640, -1, gid)
}
