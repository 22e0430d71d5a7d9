package api

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/setup"
	"vmsbridge/configs"
)

// What the file says goes to the page and comes back as it was; what is no time is refused in
// words.
func TestSchedulesComeBackAsTheyWere(t *testing.T) {
	var list []configs.WeekTime
	for _, entry := range []string{"mon-fri 18:00-07:00", "sat-sun 00:00-24:00", "06:30-07:05"} {
		w, err := configs.ParseWeekTime(entry)
		require.NoError(t, err)
		list = append(list, w)
	}
	shown := schedulesOf(setup.Schedules{Zone: time.FixedZone("Here", 3600), All: list,
		Cameras: []setup.CameraSchedule{{ID: "gate", Own: true}}}, time.Unix(0, 0))
	require.Equal(t, []any{"Here", "Thursday 01:00"}, []any{shown.Zone, shown.Clock})
	require.Equal(t, []weekTime{}, shown.Cameras[0].Times)
	again, err := scheduleWish{Times: &shown.All.Times}.times()
	require.NoError(t, err)
	require.Equal(t, list, again)

	for body, want := range map[string]string{
		`{"times":[{"days":[],"from":"18:00","to":"07:00"}]}`:        "Choose a day",
		`{"times":[{"days":["mon"],"from":"","to":"07:00"}]}`:        "must end with two times",
		`{"times":[{"days":["mon"],"from":"07:00","to":"07:00"}]}`:   "is no time at all",
		`{"times":[{"days":["monday"],"from":"07:00","to":"8:00"}]}`: "no day of the week",
	} {
		var w scheduleWish
		require.NoError(t, json.Unmarshal([]byte(body), &w))
		_, err := w.times()
		require.ErrorContains(t, err, want)
	}
	none, err := scheduleWish{}.times()
	require.NoError(t, err)
	require.Nil(t, none, "a camera's own are taken away")
}
