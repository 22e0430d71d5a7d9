package setup

import (
	"context"
	"time"

	"vmsbridge/configs"
)

// Schedules are what the file says of when motion makes events.
type Schedules struct {
	// Version changes with what the file says; Schedule wants that of what was looked at.
	Version string
	// Zone is that of all times.
	Zone    *time.Location
	All     []configs.WeekTime // none: always
	Cameras []CameraSchedule   // in the file's order
}

// CameraSchedule is that of one camera.
type CameraSchedule struct {
	ID, Name string
	// Own says that the camera has its own times, which may be none: always. Otherwise it has
	// those of all.
	Own   bool
	Times []configs.WeekTime
}

// Schedules reads them.
func (s *Setup) Schedules() (Schedules, error) {
	content, cfg, err := s.read()
	if err != nil {
		return Schedules{}, err
	}
	return schedulesOf(content, cfg)
}

func schedulesOf(content []byte, cfg *configs.Config) (out Schedules, err error) {
	written, err := configs.SchedulesOf(content)
	if err != nil || len(written.Cameras) != len(cfg.Cameras) {
		return out, refuse("The configuration is laid out so that its schedules cannot be told: change them by hand.")
	}
	out.Zone = time.Local
	if cfg.Arm.TimeZone != "" {
		if out.Zone, err = time.LoadLocation(cfg.Arm.TimeZone); err != nil {
			return out, refuse("The time zone %s is not known here any more.", cfg.Arm.TimeZone)
		}
	}
	out.All = weekTimes(written.All)
	for i, c := range cfg.Cameras {
		own := written.Cameras[i]
		out.Cameras = append(out.Cameras, CameraSchedule{c.ID, c.Name, own != nil, weekTimes(own)})
	}
	out.Version = version(written)
	return out, nil
}

func weekTimes(entries []string) (list []configs.WeekTime) {
	for _, e := range entries {
		if w, err := configs.ParseWeekTime(e); err == nil { // configs has checked it
			list = append(list, w)
		}
	}
	return list
}

// Schedule makes the times of a camera in the file, or of all with "", those that are given, and
// has the bridge take them over; nil takes a camera's own away. What was not seen is not
// overwritten: another version than that of the file is refused.
func (s *Setup) Schedule(ctx context.Context, version, id string, times []configs.WeekTime) (Schedules, error) {
	err := s.edit(ctx, func(e *edit) error {
		now, err := schedulesOf(e.content, e.cfg)
		if err == nil && now.Version != version {
			err = refuse("Somebody else changed a schedule since you opened this: load it anew.")
		}
		if err == nil && id != "" {
			_, err = find(e.cfg, id)
		}
		if err == nil {
			e.content, err = configs.ChangeSchedule(s.opts.File, e.content, id, times)
		}
		return err
	})
	if err != nil {
		return Schedules{}, err
	}
	return s.Schedules()
}
