package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for systems without the zones, such as the image for containers
)

// Arm says when motion makes events.
type Arm struct {
	// Schedule is the times of the week at which motion makes events, each as days and times of the
	// local clock, such as mon-fri 18:00-07:00; without days every day, and a time that ends before
	// it begins ends the next day. An empty list means always. At the other times cameras are
	// disarmed: their pictures are kept, and nothing that moves makes an event. Default: always.
	Schedule []string `yaml:"schedule"`
	// TimeZone is the zone of these times, as the tz database names it, such as Europe/Berlin.
	// Default: the machine's.
	TimeZone string `yaml:"time_zone"`
}

// CameraArm says when motion before one camera makes events.
type CameraArm struct {
	// Schedule is the camera's own one, in place of that of all; [] means always.
	Schedule []string `yaml:"schedule"`
}

// Schedule is the times of the week at which something is on, by the local clock: when the clock is
// set forward for the summer, the hour that is left out is of no time, and when it is set back, the
// hour that comes twice is so both times. The zero value is always on.
type Schedule struct {
	zone  *time.Location
	spans []weekly // none: always
}

// weekly is a time of the week, [from, to), since the beginning of Sunday.
type weekly struct{ from, to time.Duration }

const (
	day  = 24 * time.Hour
	week = 7 * day
)

var (
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	everyDay = [7]bool{true, true, true, true, true, true, true}
	hours    = regexp.MustCompile(`^(\d\d?):(\d\d)-(\d\d?):(\d\d)$`)
)

// ParseSchedule reads the entries of a schedule, and the name of its time zone; "" is the
// machine's. An error is a sentence for a person.
func ParseSchedule(entries []string, zone string) (s Schedule, err error) {
	if s.zone, err = parseZone(zone); err != nil {
		return Schedule{}, err
	}
	for _, entry := range entries {
		spans, err := parseHours(entry)
		if err != nil {
			return Schedule{}, err
		}
		s.spans = append(s.spans, spans...)
	}
	return s, nil
}

func parseZone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%s is no time zone that this machine knows; write one of those that "+
			"`timedatectl list-timezones` shows, such as Europe/Berlin", shown(name))
	}
	return zone, nil
}

// WeekTime is an entry of a schedule: a time of some days of the week, from Sunday on. One that
// does not end after it begins ends the next day.
type WeekTime struct {
	Days     [7]bool
	From, To time.Duration // since midnight
}

// ParseWeekTime reads an entry. An error is a sentence for a person.
func ParseWeekTime(entry string) (w WeekTime, err error) {
	words := strings.FieldsFunc(strings.ToLower(entry), func(r rune) bool { return r == ' ' || r == ',' })
	if len(words) == 0 {
		return w, fmt.Errorf("says no time; write days and times such as mon-fri 18:00-07:00")
	}
	m := hours.FindStringSubmatch(words[len(words)-1])
	if m == nil {
		return w, fmt.Errorf("%s must end with two times such as 18:00-07:00", shown(entry))
	}
	for i, at := range []*time.Duration{&w.From, &w.To} {
		h, _ := strconv.Atoi(m[1+2*i])
		minute, _ := strconv.Atoi(m[2+2*i])
		if *at = time.Duration(h)*time.Hour + time.Duration(minute)*time.Minute; minute > 59 || *at > day {
			return w, fmt.Errorf("%s holds a time that no clock shows; times are 00:00 to 24:00", shown(entry))
		}
	}
	if w.From == w.To || w.From == day {
		return w, fmt.Errorf("%s is no time at all; write 00:00-24:00 for a whole day", shown(entry))
	}
	w.Days, err = parseDays(words[:len(words)-1])
	return w, err
}

// String is the entry as people write it, such as mon-fri 18:00-07:00.
func (w WeekTime) String() string {
	var words []string
	if w.Days != everyDay {
		for n := 1; n <= len(weekdays); n++ { // from Monday to Sunday
			first := n
			for n <= len(weekdays) && w.Days[n%7] {
				n++
			}
			switch n - first {
			case 0:
			case 1:
				words = append(words, weekdays[first%7])
			default:
				words = append(words, weekdays[first%7]+"-"+weekdays[(n-1)%7])
			}
		}
	}
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute) }
	return strings.Join(append(words, clock(w.From)+"-"+clock(w.To)), " ")
}

// parseHours reads an entry into the times of a week that it is of.
func parseHours(entry string) (list []weekly, err error) {
	w, err := ParseWeekTime(entry)
	if err != nil {
		return nil, err
	}
	if w.To < w.From {
		w.To += day
	}
	for n := range weekdays {
		if begin := time.Duration(n)*day + w.From; !w.Days[n] {
			continue
		} else if end := begin - w.From + w.To; end <= week {
			list = append(list, weekly{begin, end})
		} else {
			list = append(list, weekly{begin, week}, weekly{0, end - week})
		}
	}
	return list, nil
}

// parseDays reads days of the week; none are all of them.
func parseDays(words []string) (on [7]bool, err error) {
	for _, word := range words {
		first, last, through := strings.Cut(word, "-")
		if !through {
			last = first
		}
		a, b := slices.Index(weekdays, first), slices.Index(weekdays, last)
		if a < 0 || b < 0 {
			return on, fmt.Errorf("%s is no day of the week; write mon, tue, wed, thu, fri, sat, sun, or a row "+
				"of them such as mon-fri", shown(word))
		}
		for n := a; ; n = (n + 1) % 7 {
			if on[n] = true; n == b {
				break
			}
		}
	}
	if len(words) == 0 {
		return everyDay, nil
	}
	return on, nil
}

// At is whether it is on at t, and until when: the first later moment at which that is otherwise;
// zero: it stays so.
func (s Schedule) At(t time.Time) (on bool, until time.Time) {
	on = s.on(t)
	// What is on at no time of a week after a change of the clock is on at none.
	for end := t.Add(2*week + day); len(s.spans) > 0 && t.Before(end); {
		_, shift := t.In(s.zone).ZoneBounds()
		if t = s.next(t); !shift.IsZero() && !t.Before(shift) {
			t = shift
		}
		if s.on(t) != on {
			return on, t
		}
	}
	return on, time.Time{}
}

func (s Schedule) on(t time.Time) bool {
	at := s.into(t)
	return len(s.spans) == 0 ||
		slices.ContainsFunc(s.spans, func(w weekly) bool { return w.from <= at && at < w.to })
}

// next is when the clock shows the next beginning or end, if nobody sets it before.
func (s Schedule) next(t time.Time) time.Time {
	at, least := s.into(t), week
	for _, w := range s.spans {
		for _, edge := range []time.Duration{w.from, w.to} {
			if d := (edge - at + week) % week; d > 0 {
				least = min(least, d)
			}
		}
	}
	return t.Add(least)
}

// into is how far into the week the local clock shows t.
func (s Schedule) into(t time.Time) time.Duration {
	zone := s.zone
	if zone == nil {
		zone = time.Local
	}
	t = t.In(zone)
	return time.Duration(t.Weekday())*day + time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// schedule checks the schedule of all cameras, or that of one.
func (c *checker) schedule(at string, entries []string) {
	for i, entry := range entries {
		if _, err := parseHours(entry); err != nil {
			c.fault(item(at, i), "%v", err)
		}
	}
}
