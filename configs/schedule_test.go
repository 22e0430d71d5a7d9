package configs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // a machine that tests may have none

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A schedule is on while the local clock shows one of its times, and changes at the minute that it
// says, whatever the clock does: around every change of the clock of zones that change it by an
// hour, by half an hour, at midnight, in Ramadan, and of one that never does.
func TestScheduleFollowsTheLocalClock(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago",
		"Africa/Casablanca", "Asia/Kathmandu"}
	clockTime := rapid.SampledFrom([]int{0, 30, 60, 90, 105, 120, 150, 180, 181, 1380, 1439, 1440})
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		loc, err := time.LoadLocation(zone)
		require.NoError(t, err)
		var entries []string
		var model []modelEntry
		for range rapid.IntRange(1, 3).Draw(t, "entries") {
			m := modelEntry{days: rapid.SliceOfNDistinct(rapid.SampledFrom(weekdays), 1, 7, rapid.ID).Draw(t, "days"),
				from: min(clockTime.Draw(t, "from"), 1439), to: clockTime.Draw(t, "to")}
			if m.from == m.to {
				m.to++
			}
			model = append(model, m)
			entries = append(entries, fmt.Sprintf("%s %02d:%02d-%02d:%02d", strings.Join(m.days, " "),
				m.from/60, m.from%60, m.to/60, m.to%60))
		}
		s, err := ParseSchedule(entries, zone)
		require.NoError(t, err)
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, loc)
		now = now.Add(time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "now")) * time.Minute)
		if _, shift := now.ZoneBounds(); shift.Year() == 2026 && rapid.Bool().Draw(t, "near a change") {
			now = shift.Add(time.Duration(rapid.IntRange(-24*60, 180).Draw(t, "before it")) * time.Minute)
		}
		on, until := s.At(now)
		require.Equal(t, shows(model, now.In(loc)), on, "%v at %v", entries, now.In(loc))
		want := time.Time{}
		for at := now.Add(time.Minute); at.Before(now.Add(9 * day)); at = at.Add(time.Minute) {
			if shows(model, at.In(loc)) != on {
				want = at
				break
			}
		}
		require.True(t, want.Equal(until), "%v at %v: until %v, the clock says %v", entries, now.In(loc), until.In(loc),
			want.In(loc))
	})
}

// modelEntry is an entry as a person reads it, times in minutes of the day.
type modelEntry struct {
	days     []string
	from, to int
}

// shows tells whether the clock shows one of the times, by looking at its face.
func shows(list []modelEntry, at time.Time) bool {
	minute, today, yesterday := at.Hour()*60+at.Minute(), weekdays[at.Weekday()], weekdays[(at.Weekday()+6)%7]
	return slices.ContainsFunc(list, func(m modelEntry) bool {
		if m.from < m.to {
			return slices.Contains(m.days, today) && m.from <= minute && minute < m.to
		}
		return slices.Contains(m.days, today) && minute >= m.from || slices.Contains(m.days, yesterday) && minute < m.to
	})
}

func TestScheduleAtTheSeconds(t *testing.T) {
	s, err := ParseSchedule([]string{"mon-fri 18:00-07:00", "Sat,Sun 00:00-24:00"}, "Europe/Berlin")
	require.NoError(t, err)
	for now, want := range map[string]string{
		"2026-03-26T17:59:59.999+01:00": "false 2026-03-26T18:00:00+01:00", // a Thursday
		"2026-03-26T18:00:00+01:00":     "true 2026-03-27T07:00:00+01:00",
		"2026-03-27T18:00:00+01:00":     "true 2026-03-30T00:00:00+02:00", // over the change to summer time
		"2026-03-30T00:00:00+02:00":     "false 2026-03-30T18:00:00+02:00",
	} {
		at, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		on, until := s.At(at)
		require.Equal(t, want, fmt.Sprint(on, " ", until.In(s.zone).Format(time.RFC3339)), now)
	}
	for _, always := range []Schedule{{}, {zone: time.UTC, spans: []weekly{{0, week}}}} {
		on, until := always.At(time.Now())
		require.True(t, on)
		require.Zero(t, until)
	}
}

func TestScheduleOfACamera(t *testing.T) {
	cfg, err := Parse("x.yaml", []byte(`
arm: { schedule: [mon-fri 18:00-07:00] }
cameras:
  - { id: all, url: rtsp://h/1 }
  - { id: own, url: rtsp://h/2, arm: { schedule: [daily-not] } }
`))
	require.ErrorContains(t, err, "x.yaml:5:51: cameras[1].arm.schedule[0]: \"daily-not\" must end with two times")
	require.Nil(t, cfg)
	cfg, err = Parse("x.yaml", []byte(`
arm: { schedule: [mon-fri 18:00-07:00] }
cameras:
  - { id: all, url: rtsp://h/1 }
  - { id: own, url: rtsp://h/2, arm: { schedule: [20:00-06:00] } }
  - { id: always, url: rtsp://h/3, arm: { schedule: [] } }
`))
	require.NoError(t, err)
	require.Equal(t, []string{"mon-fri 18:00-07:00"}, cfg.Cameras[0].Arm.Schedule)
	require.Equal(t, []string{"20:00-06:00"}, cfg.Cameras[1].Arm.Schedule)
	require.Empty(t, cfg.Cameras[2].Arm.Schedule)
}
