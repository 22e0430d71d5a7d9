package configs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

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
	before, err := Parse(name, content)
	if err != nil {
		return nil, err
	}
	was, err := SchedulesOf(content)
	if err != nil {
		return nil, fmt.Errorf("change the schedule: %w", err)
	}
	s, at, have := &sheet{content: content, camera: -1, name: "arm"}, -1, was.All
	if id != "" {
		if _, at, err = listOf(content, before, id); err != nil {
			return nil, fmt.Errorf("change the schedule: %w", err)
		}
		s.camera, have = at, was.Cameras[at]
	}
	now := s.schedule(have, want)
	if s.err != nil {
		return nil, fmt.Errorf("change the schedule: %w", s.err)
	}
	after, err := Parse(name, s.content)
	if err != nil {
		return nil, err // the places of what is wrong are those of the file as it would be
	}
	hoped, got := *before, *after
	hoped.Warnings, got.Warnings = nil, nil
	hoped.Cameras = slices.Clone(before.Cameras)
	if at < 0 {
		hoped.Arm.Schedule, was.All = now, now
	} else {
		was.Cameras[at] = now
	}
	for i := range hoped.Cameras {
		hoped.Cameras[i].Arm.Schedule = was.of(i)
	}
	is, err := SchedulesOf(s.content)
	for _, c := range []*Config{&hoped, &got} {
		c.Arm.Schedule = filled(c.Arm.Schedule)
		for i := range c.Cameras {
			c.Cameras[i].Arm.Schedule = filled(c.Cameras[i].Arm.Schedule)
		}
	}
	was.All, is.All = filled(was.All), filled(is.All)
	if err != nil || !reflect.DeepEqual(hoped, got) || !reflect.DeepEqual(was, is) {
		return nil, errors.New("change the schedule: the file is laid out so that something else would change; " +
			"change it by hand")
	}
	return s.content, nil
}

// of is the schedule that a camera has.
func (w WrittenSchedules) of(i int) []string {
	if w.Cameras[i] != nil {
		return w.Cameras[i]
	}
	return w.All
}

// schedule makes the change, and returns what the file is to say then.
func (s *sheet) schedule(have []string, want []WeekTime) []string {
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
	switch {
	case want == nil && s.camera >= 0:
		s.away()
		return nil
	case len(entries) == 0 && len(have) == 0 && (have != nil || s.camera < 0):
		return have // always, as it is
	case len(entries) == 0 && len(have) == 0:
		s.set("", 0, "schedule", "[]")
		return entries
	}
	if _, group, ok := s.group(); ok && s.err == nil && group.keys("") == nil {
		list, ok := group.key("schedule")
		if ok && !list.empty() && list.node.Style&yaml.FlowStyle != 0 && list.node.Kind == yaml.SequenceNode {
			text := "["
			for i, e := range entries {
				if i > 0 {
					text += ", "
				}
				text += scalarText(e)
			}
			s.value(list, "the value of schedule", text+"]")
			return entries
		}
	}
	out := changeItems(s, "schedule", have, entries, scalarText)
	if len(out) == 0 {
		s.set("", 0, "schedule", "[]")
	}
	return out
}

// away takes the group out of the camera's section.
func (s *sheet) away() {
	in, group, ok := s.group()
	switch {
	case s.err != nil || !ok:
	case group.from == in.node.Content[0].Line-1:
		s.err = fmt.Errorf("%s is the first key of its section; change it by hand", s.name)
	default:
		s.splice(in.lines, group.from, group.end)
	}
}
