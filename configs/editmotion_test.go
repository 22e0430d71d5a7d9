package configs

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const drawn = `# mine
cameras:
  # the gate
  - id: gate
    url: rtsp://10.0.0.5/a
    motion:   # tuned in May
      sensitivity: 0.6   # windy
      masks:   # never looked at
        # the clock
        - [[0, 0], [1, 0], [1, 0.08], [0, 0.08]]   # burnt in
        # the tree
        - - [0.5, 0.5]
          - [0.6, 0.5]
          - [0.6, 0.7]
      regions:
        # where people come
        - id: door
          area: [[0.2, 0.3],
                 [0.5, 0.3], [0.5, 0.95]]
          sensitivity: 0.8   # keen
        - name: Bay
          id: bay
          area:
            - [0, 0]   # the corner by the wall
            - [0.2, 0]
            - [0.2, 0.2]
      lines:
        - {id: kerb, points: [[0, 0], [1, 1]]}
      # areas: none yet

  # the yard
  - id: yard
    url: rtsp://10.0.0.6/a
  - id: hall
    url: rtsp://10.0.0.7/a
    motion:
# the end
log: {level: info}
`

func motionOf(t *testing.T, content, id string) CameraMotion {
	t.Helper()
	cfg, err := Parse("x.yaml", []byte(content))
	require.NoError(t, err)
	for _, c := range cfg.Cameras {
		if c.ID == id {
			return c.Motion
		}
	}
	require.Fail(t, "no camera", id)
	return CameraMotion{}
}

var square = [][2]float64{{0.25, 0.25}, {0.75, 0.25}, {0.75, 0.75}, {0.25, 0.75}}

const squareText = "[[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]]"

// What is drawn is written where it belongs; all else, the comments among it, stays byte for byte.
func TestChangeMotion(t *testing.T) {
	for name, c := range map[string]struct {
		id     string
		change func(m *CameraMotion)
		texts  []string // old, new, old, new, …
	}{
		"nothing": {"gate", func(*CameraMotion) {}, nil},
		"sensitivity": {"gate", func(m *CameraMotion) { m.Sensitivity = 0.45 },
			[]string{"0.6   # windy", "0.45   # windy"}},
		"the first sensitivity": {"yard", func(m *CameraMotion) { m.Sensitivity = 0.45 },
			[]string{"6/a\n", "6/a\n    motion:\n      sensitivity: 0.45\n"}},
		"under an empty key": {"hall", func(m *CameraMotion) { m.Sensitivity = 1 },
			[]string{"    motion:\n# the end", "    motion:\n      sensitivity: 1\n# the end"}},
		"a corner of a mask": {"gate", func(m *CameraMotion) { m.Masks[0][2][1] = 0.1 },
			[]string{"[1, 0.08], [0, 0.08]]", "[1, 0.1], [0, 0.08]]"}},
		"a mask of several lines": {"gate", func(m *CameraMotion) { m.Masks[1] = square },
			[]string{"- - [0.5, 0.5]\n          - [0.6, 0.5]\n          - [0.6, 0.7]\n", "- " + squareText + "\n"}},
		"a mask goes": {"gate", func(m *CameraMotion) { m.Masks = m.Masks[1:] },
			[]string{"        # the clock\n        - [[0, 0], [1, 0], [1, 0.08], [0, 0.08]]   # burnt in\n", ""}},
		"all masks go": {"gate", func(m *CameraMotion) { m.Masks = nil },
			[]string{drawn[strings.Index(drawn, "        # the clock"):strings.Index(drawn, "      regions:")], ""}},
		"one more mask": {"gate", func(m *CameraMotion) { m.Masks = append(m.Masks, square) },
			[]string{"- [0.6, 0.7]\n", "- [0.6, 0.7]\n        - " + squareText + "\n"}},
		"the first mask": {"hall", func(m *CameraMotion) { m.Masks = []Polygon{square} },
			[]string{"    motion:\n# the end", "    motion:\n      masks:\n        - " + squareText + "\n# the end"}},
		"an area of several lines": {"gate", func(m *CameraMotion) { m.Regions[0].Area = square },
			[]string{"[[0.2, 0.3],\n                 [0.5, 0.3], [0.5, 0.95]]", squareText}},
		"a region as keen as the camera": {"gate", func(m *CameraMotion) { m.Regions[0].Sensitivity = 0 },
			[]string{"          sensitivity: 0.8   # keen\n", ""}},
		"a name": {"gate", func(m *CameraMotion) { m.Regions[0].Name = "Front: #1" },
			[]string{"0.8   # keen\n", "0.8   # keen\n          name: \"Front: #1\"\n"}},
		"another name": {"gate", func(m *CameraMotion) { m.Regions[1].Name = "" }, []string{"name: Bay", "name: bay"}},
		"a region goes": {"gate", func(m *CameraMotion) { m.Regions = m.Regions[1:] },
			[]string{drawn[strings.Index(drawn, "        # where people"):strings.Index(drawn, "        - name: Bay")],
				""}},
		"the first areas": {"gate", func(m *CameraMotion) {
			m.Areas = []Area{{ID: "lot", Name: "Lot", Area: square, Intrusion: true, Loiter: 90 * time.Second}}
		}, []string{"[[0, 0], [1, 1]]}\n", "[[0, 0], [1, 1]]}\n" +
			"      areas:\n        - id: lot\n          name: Lot\n          area: " + squareText + "\n" +
			"          loiter: 1m30s\n"}},
		"a line for a camera without": {"yard", func(m *CameraMotion) {
			m.Lines = []Line{{ID: "ramp", Points: square[:2], Direction: "a-to-b"}}
		}, []string{"6/a\n", "6/a\n    motion:\n      lines:\n        - id: ramp\n" +
			"          points: [[0.25, 0.25], [0.75, 0.25]]\n          direction: a-to-b\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := motionOf(t, drawn, c.id)
			c.change(&m)
			changed, err := ChangeMotion("x.yaml", []byte(drawn), c.id, m)
			require.NoError(t, err)
			want := drawn
			for i := 0; i+1 < len(c.texts); i += 2 {
				require.Contains(t, want, c.texts[i])
				want = strings.Replace(want, c.texts[i], c.texts[i+1], 1)
			}
			require.Equal(t, want, string(changed))
			windows, err := ChangeMotion("x.yaml", []byte(strings.ReplaceAll(drawn, "\n", "\r\n")), c.id, m)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(want, "\n", "\r\n"), string(windows))
		})
	}
}

// The keys of the example, with a comment each, keep them when they go back to what they are
// without being written.
func TestChangeMotionOfTheExample(t *testing.T) {
	raw, err := os.ReadFile("vmsbridge.example.yaml")
	require.NoError(t, err)
	content := string(raw[bytes.Index(raw, []byte("\ncameras:")):])
	content = strings.NewReplacer("password_file: secrets/gate.password", "password: secret", "password_file", "# ").
		Replace(content)
	content = strings.Replace(content, "    username: viewer\n    # :", "    # :", 1)
	m := motionOf(t, content, "100d4c41")
	m.Lines[0].Direction = "b-to-a"
	m.Areas[0].Loiter = 0
	m.Areas = append(m.Areas, Area{ID: "lot", Area: square, Loiter: time.Hour})
	changed, err := ChangeMotion("vmsbridge.example.yaml", []byte(content), "100d4c41", m)
	require.NoError(t, err)
	require.Contains(t, string(changed), "direction: b-to-a                              # or a-to-b")
	require.Contains(t, string(changed), "loiter: 0s\n          # intrusion: false")
	m.Lines[0].Direction, m.Areas, m.Areas[0].Loiter = "any", m.Areas[:1], 30*time.Second
	back, err := ChangeMotion("vmsbridge.example.yaml", changed, "100d4c41", m)
	require.NoError(t, err)
	require.Equal(t, content, string(back))
}

// What cannot be kept, and what would be no good file, is refused with the reason.
func TestChangeMotionRefuses(t *testing.T) {
	braces := "cameras:\n  - id: gate\n    url: rtsp://h/\n    motion: {sensitivity: 0.4}\n"
	shared := "cameras:\n  - id: gate\n    url: rtsp://h/\n    motion: &m\n      sensitivity: 0.4\n  - id: yard\n" +
		"    url: rtsp://h/b\n    motion: *m\n"
	for name, c := range map[string]struct {
		content string
		id      string
		change  func(m *CameraMotion)
		why     string
	}{
		"a comment between corners": {drawn, "gate", func(m *CameraMotion) { m.Regions[1].Area = square },
			"the value of area holds comments"},
		"a line in braces": {drawn, "gate", func(m *CameraMotion) { m.Lines[0].Points = square[:2] },
			"item 1 of the list lines is written in braces"},
		"braces": {braces, "gate", func(m *CameraMotion) { m.Masks = []Polygon{square} },
			"its motion is written in braces"},
		"an alias":  {shared, "yard", func(m *CameraMotion) { m.Sensitivity = 1 }, "its motion is written by an alias"},
		"an anchor": {shared, "gate", func(m *CameraMotion) { m.Sensitivity = 1 }, "something else would change"},
		"brackets": {threeCameras, "gate", func(m *CameraMotion) { m.Masks = []Polygon{square} },
			"the list masks is written in brackets"},
		"in braces all": {"cameras:\n  - {id: gate, url: \"rtsp://h/\"}\n", "gate",
			func(m *CameraMotion) { m.Sensitivity = 1 }, "its section is written in braces"},
		"no camera": {drawn, "attic", nil, "no camera"},
		"pixels": {drawn, "gate", func(m *CameraMotion) { m.Masks = []Polygon{{{0, 0}, {640, 0}, {640, 10}}} },
			"fractions of the picture"},
		"sides that cross": {drawn, "gate", func(m *CameraMotion) {
			m.Masks = []Polygon{{square[0], square[2], square[1], square[3]}}
		}, "in order around the area"},
		"the same id twice": {drawn, "gate", func(m *CameraMotion) {
			m.Regions = append(m.Regions, Region{ID: "bay", Area: square})
		},
			"is the id of the region"},
		"a bad id": {drawn, "gate", func(m *CameraMotion) {
			m.Regions = append(m.Regions, Region{ID: "b/ y", Area: square})
		}, ".id"},
		"a sensitivity": {drawn, "gate", func(m *CameraMotion) { m.Sensitivity = 2 }, "at most 1"},
	} {
		t.Run(name, func(t *testing.T) {
			m := CameraMotion{}
			if c.change != nil {
				m = motionOf(t, c.content, c.id)
				c.change(&m)
			}
			_, err := ChangeMotion("x.yaml", []byte(c.content), c.id, m)
			require.ErrorContains(t, err, c.why)
		})
	}
}

// Whatever a file looks like, what is drawn into it is there afterwards, or it is refused.
func FuzzChangeMotion(f *testing.F) {
	f.Add(drawn, "Door")
	f.Add(threeCameras, "a: 'b'")
	f.Add("cameras:\n- id: gate\n  url: 'rtsp://h/' #x\n  ? motion\n  : {masks: [], ? lines : ~}\n", "x")
	f.Add("cameras:\n- \"id\": gate\n  'url': rtsp://h/\n  motion:\n    regions:\n    - - &é id: é\n", "é")
	f.Fuzz(func(t *testing.T, content, name string) {
		cfg, err := Parse("x.yaml", []byte(content))
		if err != nil || len(cfg.Cameras) == 0 {
			return
		}
		id, m := cfg.Cameras[0].ID, cfg.Cameras[0].Motion
		m.Sensitivity = 0.31
		m.Masks = append([]Polygon{square}, m.Masks...)
		m.Areas = append(m.Areas[:len(m.Areas):len(m.Areas)],
			Area{ID: "new", Name: name, Area: square, Intrusion: true})
		if len(m.Regions) > 0 {
			m.Regions = append([]Region{}, m.Regions...)
			m.Regions[0].Name, m.Regions[0].Area = name, square
		}
		if len(m.Lines) > 0 {
			m.Lines = m.Lines[1:]
		}
		changed, err := ChangeMotion("x.yaml", []byte(content), id, m)
		if err != nil {
			return
		}
		after, err := Parse("x.yaml", changed)
		if err != nil || len(after.Cameras) != len(cfg.Cameras) || after.Cameras[0].Motion.Sensitivity != 0.31 ||
			len(after.Cameras[0].Motion.Lines) != len(m.Lines) {
			t.Fatalf("%q became %q: %v", content, changed, err)
		}
	})
}
