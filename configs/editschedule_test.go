package configs

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func times(t *testing.T, entries ...string) []WeekTime {
	t.Helper()
	list := []WeekTime{}
	for _, e := range entries {
		w, err := ParseWeekTime(e)
		require.NoError(t, err)
		list = append(list, w)
	}
	return list
}

// An entry is written so that it is read as the same one.
func TestWeekTimesComeBack(t *testing.T) {
	for entry, want := range map[string]string{
		"mon,tue,wed 18:00-7:00": "mon-wed 18:00-07:00", "sun 0:00-24:00": "sun 00:00-24:00",
		"fri-mon 8:05-9:00": "mon fri-sun 08:05-09:00", "sun-sat 1:00-2:00": "01:00-02:00",
		"sat-sun 0:00-24:00": "sat-sun 00:00-24:00", "tue 0:00-24:00": "tue 00:00-24:00",
	} {
		require.Equal(t, want, times(t, entry)[0].String())
	}
	rapid.Check(t, func(r *rapid.T) {
		w := WeekTime{From: hoursAndMinutes(r), To: hoursAndMinutes(r)}
		for i := range w.Days {
			w.Days[i] = rapid.Bool().Draw(r, "day")
		}
		if w.Days == [7]bool{} || w.From == w.To {
			return
		}
		again, err := ParseWeekTime(w.String())
		if err != nil || again != w {
			r.Fatalf("%v is read as %v: %v", w, again, err)
		}
	})
}

// hoursAndMinutes draws a time of the day.
func hoursAndMinutes(r *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 24*60-1).Draw(r, "minute")) * time.Minute
}

const scheduled = `# mine
arm:
  schedule:   # all
    # nights
    - mon-fri 18:00-07:00   # until the morning
    - Sat,Sun 0:00-24:00
  time_zone: Europe/Berlin   # ours
cameras:
  - id: gate   # follows all
    url: rtsp://10.0.0.5/a
  - id: yard
    url: rtsp://10.0.0.6/a
    # its own
    arm:
      schedule: ["20:00-06:00", sun 1:00-2:00]   # nights
    motion: {sensitivity: 0.4}
  - id: hall
    url: rtsp://10.0.0.7/a
    arm: {schedule: []}
# the end
`

// What changes is written where it belongs; all else, the comments among it, stays byte for byte.
func TestChangeSchedule(t *testing.T) {
	bare := "cameras:\n  - id: gate\n    url: rtsp://10.0.0.5/a\n# the end\n"
	first := "\narm:\n  schedule:\n    - \"01:00-02:00\"\n# the"
	for name, c := range map[string]struct {
		content, id string
		want        []WeekTime
		texts       []string // old, new
	}{
		"nothing": {scheduled, "", times(t, "mon-fri 18:00-07:00", "sat-sun 00:00-24:00"), nil},
		"one goes": {scheduled, "", times(t, "sat-sun 00:00-24:00"),
			[]string{"    # nights\n    - mon-fri 18:00-07:00   # until the morning\n", ""}},
		"one more": {scheduled, "", times(t, "mon-fri 18:00-07:00", "sat-sun 00:00-24:00", "wed 12:00-13:00"),
			[]string{"0:00-24:00\n", "0:00-24:00\n    - \"wed 12:00-13:00\"\n"}},
		"another time": {scheduled, "", times(t, "mon-fri 17:30-07:00", "sat-sun 00:00-24:00"),
			[]string{"mon-fri 18:00-07:00   #", "\"mon-fri 17:30-07:00\"   #"}},
		"always": {scheduled, "", nil, []string{scheduled[strings.Index(scheduled, "  schedule:"):strings.Index(
			scheduled, "  time_zone")], "  schedule: [] # all\n"}},
		"a camera's own": {scheduled, "gate", times(t, "18:00-07:00"), []string{"5/a\n",
			"5/a\n    arm:\n      schedule:\n        - \"18:00-07:00\"\n"}},
		"a camera's in brackets": {scheduled, "yard", times(t, "20:00-06:00", "mon 1:00-2:00"), []string{
			`["20:00-06:00", sun 1:00-2:00]`, `["20:00-06:00", "mon 01:00-02:00"]`}},
		"a camera, always": {scheduled, "yard", []WeekTime{}, []string{`["20:00-06:00", sun 1:00-2:00]`, "[]"}},
		"a camera as all": {scheduled, "yard", nil, []string{
			"    arm:\n      schedule: [\"20:00-06:00\", sun 1:00-2:00]   # nights\n", ""}},
		"as all, as it is":       {scheduled, "gate", nil, nil},
		"always, as it is":       {scheduled, "hall", []WeekTime{}, nil},
		"always, without a word": {bare, "", nil, nil},
		"the first of all":       {bare, "", times(t, "1:00-2:00"), []string{"# the", first}},
		"the first: always": {bare, "gate", []WeekTime{},
			[]string{"5/a\n", "5/a\n    arm:\n      schedule: []\n"}},
		"one that stands there":   {bare, "gate", nil, nil},
		"the same one, two times": {bare, "", times(t, "1:00-2:00", "1:00-2:00"), []string{"# the", first}},
	} {
		t.Run(name, func(t *testing.T) {
			changed, err := ChangeSchedule("x.yaml", []byte(c.content), c.id, c.want)
			require.NoError(t, err)
			want := c.content
			for i := 0; i+1 < len(c.texts); i += 2 {
				require.Contains(t, want, c.texts[i])
				want = strings.Replace(want, c.texts[i], c.texts[i+1], 1)
			}
			require.Equal(t, want, string(changed))
			windows, err := ChangeSchedule("x.yaml", []byte(strings.ReplaceAll(c.content, "\n", "\r\n")), c.id, c.want)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(want, "\n", "\r\n"), string(windows))
		})
	}
}

// The example has a comment at an entry of a camera's own, which goes with it and no other.
func TestChangeScheduleOfTheExample(t *testing.T) {
	raw, err := os.ReadFile("vmsbridge.example.yaml")
	require.NoError(t, err)
	of := func(key string) string { return string(raw[bytes.Index(raw, []byte("\n"+key+":")):]) }
	all, _, _ := strings.Cut(of("arm"), "\n\n")
	content := strings.NewReplacer("password_file: secrets/gate.password", "password: secret", "password_file", "# ").
		Replace(all + "\n" + of("cameras"))
	content = strings.Replace(content, "    username: viewer\n    # :", "    # :", 1)
	before, err := SchedulesOf([]byte(content))
	require.NoError(t, err)
	changed, err := ChangeSchedule("vmsbridge.example.yaml", []byte(content), "100d4c41",
		times(t, before.Cameras[0][1], "mon 1:00-2:00"))
	require.NoError(t, err)
	require.Equal(t, strings.Replace(content, "- mon-fri 18:00-07:00 ", "- \"mon 01:00-02:00\" ", 1), string(changed))
	changed, err = ChangeSchedule("vmsbridge.example.yaml", changed, "", times(t, "mon 1:00-2:00"))
	require.NoError(t, err)
	require.Regexp(t, "arm:\n  schedule: +# the times of the week.*\n    - \"mon 01:00-02:00\"\n  time_zone",
		string(changed))
}

// What cannot be kept is refused, with the reason.
func TestSchedulesThatCannotBeChanged(t *testing.T) {
	for name, c := range map[string]struct{ old, new, id, want string }{
		"braces":    {"arm: {schedule: []}", "arm: {schedule: [1:00-2:00]}", "hall", "its arm is written in braces"},
		"an alias":  {"schedule: [\"20:00-06:00\", sun 1:00-2:00]", "schedule: *all", "yard", "written by an alias"},
		"no camera": {"id: gate", "id: door", "gate", "no camera"},
		"comments between": {"[\"20:00-06:00\", sun 1:00-2:00]", "[\"20:00-06:00\", # late\n        sun 1:00-2:00]",
			"yard", "comments or anchors between its parts"},
		"a file with faults": {"18:00-07:00", "18:00", "gate", "must end with two times"},
	} {
		t.Run(name, func(t *testing.T) {
			content := strings.Replace(scheduled, c.old, c.new, 1)
			require.NotEqual(t, scheduled, content)
			if name == "an alias" {
				content = strings.Replace(content, "  schedule:   # all", "  schedule: &all", 1)
			}
			_, err := ChangeSchedule("x.yaml", []byte(content), c.id, times(t, "mon 3:00-4:00"))
			require.ErrorContains(t, err, c.want)
		})
	}
	// The list that another one stands for is not changed behind its back.
	content := strings.NewReplacer("  schedule:   # all", "  schedule: &all",
		"[\"20:00-06:00\", sun 1:00-2:00]", "*all").Replace(scheduled)
	_, err := ChangeSchedule("x.yaml", []byte(content), "", times(t, "mon 3:00-4:00"))
	require.ErrorContains(t, err, "comments or anchors")
}
