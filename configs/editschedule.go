package configs

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// WrittenSchedules are the schedules as a file says them, before cameras inherit that of all.
type WrittenSchedules struct {
	All     []string
	Cameras [][]string // by their places; nil: that of all
}

// SchedulesOf reads them from a file's content, which must have no problems.
func SchedulesOf(content []byte) (w WrittenSchedules, err error) {
	var file struct {
		Arm     CameraArm `yaml:"arm"`
		Cameras []struct {
			Arm CameraArm `yaml:"arm"`
		} `yaml:"cameras"`
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		return w, err
	}
	w.All = file.Arm.Schedule
	for _, c := range file.Cameras {
		w.Cameras = append(w.Cameras, c.Arm.Schedule)
	}
	return w, nil
}

// ChangeSchedule makes the schedule of one camera in a file's content, or with the id "" that of
// all, want, and leaves every other byte, the comments among them, as it is; nil takes a camera's
// own away. Entries of the same times stay as they are written. The result was read again: it says
// what is wanted, and nothing else has changed. What is written so that this cannot be done is an
// error that says why.
func ChangeSchedule(name string, content []byte, id string, want []WeekTime) ([]byte, error) {
	return change("change the schedule", name, content, func(s *sheet, before *Config) (expectation, error) {
		was, err := SchedulesOf(content)
		at, group, have := -1, []any{"arm"}, was.All
		if err == nil && id != "" {
			if at, err = before.place(id); err == nil {
				group, have = []any{"cameras", at, "arm"}, was.Cameras[at]
			}
		}
		if err != nil {
			return nil, err
		}
		now := s.schedule(group, have, want)
		return func(want, got *Config) bool {
			if at < 0 {
				want.Arm.Schedule, was.All = now, now
			} else {
				was.Cameras[at] = now
			}
			for i := range want.Cameras {
				want.Cameras[i].Arm.Schedule = was.of(i)
			}
			for _, c := range []*Config{want, got} {
				c.Arm.Schedule = filled(c.Arm.Schedule)
				for i := range c.Cameras {
					c.Cameras[i].Arm.Schedule = filled(c.Cameras[i].Arm.Schedule)
				}
			}
			is, err := SchedulesOf(s.content)
			was.All, is.All = filled(was.All), filled(is.All)
			return err == nil && reflect.DeepEqual(was, is)
		}, nil
	})
}

// of is the schedule that a camera has.
func (w WrittenSchedules) of(i int) []string {
	if w.Cameras[i] != nil {
		return w.Cameras[i]
	}
	return w.All
}

// schedule makes the change, and returns what the file is to say then.
func (s *sheet) schedule(group []any, have []string, want []WeekTime) []string {
	entries := []string{}
	for _, w := range want {
		text := w.String()
		for _, old := range have {
			if its, err := ParseWeekTime(old); err == nil && its == w {
				text = old
			}
		}
		if !slices.Contains(entries, text) {
			entries = append(entries, text)
		}
	}
	path := append(group, "schedule")
	switch {
	case want == nil && len(group) > 1:
		s.set("", group...)
		return nil
	case len(entries) == 0 && len(have) == 0 && (have != nil || len(group) == 1):
		return have // always, as it is
	case len(entries) == 0 && len(have) == 0:
		s.set("[]", path...)
		return entries
	}
	list, depth := s.find(path)
	if s.err == nil && depth == len(path) && !list.empty() && list.node.Style&yaml.FlowStyle != 0 &&
		list.node.Kind == yaml.SequenceNode {
		text := make([]string, len(entries))
		for i, e := range entries {
			text[i] = scalarText(e)
		}
		s.value(list, "["+strings.Join(text, ", ")+"]")
		return entries
	}
	out := changeItems(s, path, have, entries, scalarText)
	if len(out) == 0 {
		s.set("[]", path...)
	}
	return out
}
