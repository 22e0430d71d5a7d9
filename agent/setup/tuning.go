package setup

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"

	"vmsbridge/configs"
)

// Tuning is what a camera's section of the file says of motion.
type Tuning struct {
	configs.CameraMotion
	// Version changes with what the file says; Tune wants that of what was looked at.
	Version string
}

// Tuning reads it for a camera.
func (s *Setup) Tuning(id string) (Tuning, error) {
	_, cfg, err := s.read()
	if err != nil {
		return Tuning{}, err
	}
	cam, err := find(cfg, id)
	return Tuning{cam.Motion, version(cam.Motion)}, err
}

// Tune makes a camera's sensitivity, masks, regions, lines and areas in the file those of t, and
// has the bridge take them over; t's other settings are not looked at. What t did not see is not
// overwritten: another Version is refused. A region of sensitivity 0 has the camera's.
func (s *Setup) Tune(ctx context.Context, id string, t Tuning) (Tuning, error) {
	err := s.edit(ctx, func(e *edit) error {
		cam, err := find(e.cfg, id)
		if err != nil {
			return err
		}
		if version(cam.Motion) != t.Version {
			return refuse("Somebody else changed this camera's settings since you opened them: load them anew.")
		}
		if err = drawable(t.CameraMotion); err == nil {
			e.content, err = configs.ChangeMotion(s.opts.File, e.content, id, t.CameraMotion)
		}
		return err
	})
	if err != nil {
		return Tuning{}, err
	}
	return s.Tuning(id)
}

// drawable refuses names that cannot be written.
func drawable(m configs.CameraMotion) error {
	var names []string
	for _, r := range m.Regions {
		names = append(names, r.Name)
	}
	for _, l := range m.Lines {
		names = append(names, l.Name)
	}
	for _, a := range m.Areas {
		names = append(names, a.Name)
	}
	for _, name := range names {
		if err := checkName(name); err != nil && name != "" {
			return err
		}
	}
	return nil
}

// version is another one whenever v, of numbers and text, is.
func version(v any) string {
	raw, _ := json.Marshal(v)
	sum := fnv.New64a()
	_, _ = sum.Write(raw)
	return hex.EncodeToString(sum.Sum(nil))
}
