package configs

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var added = Camera{ID: "gate2", Name: `Gate "2": north`, URL: "rtsp://10.0.0.9:554/a?b=1&c=2",
	PreviewURL: "rtsp://10.0.0.9:554/b", Username: "123", PasswordFile: "secrets/gate2.password"}

func TestSectionIsWhatItSays(t *testing.T) {
	c := added
	c.PasswordFile, c.Password = "", NewSecret("never-shown")
	text := Section(c, "ACME\nC-1")
	require.NotContains(t, text, "never-shown")
	require.True(t, strings.HasPrefix(text, "  # ACME C-1\n  - id: gate2\n"), text)
	cfg, err := Parse("x.yaml", []byte("cameras:\n"+text))
	require.NoError(t, err)
	require.Equal(t, c.Name, cfg.Cameras[0].Name)
	require.Equal(t, c.URL, cfg.Cameras[0].URL)
	require.Equal(t, c.PreviewURL, cfg.Cameras[0].PreviewURL)
	require.Equal(t, c.Username, cfg.Cameras[0].Username)
}

func TestAddCameraKeepsEveryOtherByte(t *testing.T) {
	c := added
	c.PasswordFile = ""
	section := Section(c)
	for name, content := range map[string]string{
		"empty":           "",
		"only a comment":  "# nothing yet\n",
		"no list":         "bridge:\n  id: b\n",
		"no end of line":  "bridge:\n  id: b",
		"null":            "cameras:\n",
		"null, commented": "cameras: # none yet\nlog:\n  level: info\n",
		"one":             "cameras:\n  - id: a\n    url: rtsp://h/\n",
		"not indented":    "cameras:\n- id: a\n  url: rtsp://h/\n",
		"deeply indented": "cameras:\n      - id: a\n        url: rtsp://h/\n\n# the end\n",
		"keys follow": "cameras:\n  - id: a   # first\n    url: rtsp://h/ # its address\n    # password: " +
			"later\n\n# logging\nlog: {level: info}\n",
		"block at the end": "cameras:\n  - id: a\n    url: rtsp://h/\n    name: >-\n      a long\n\n      name\nlog: " +
			"{level: info}\n",
		"Windows":    "bridge:\r\n  id: b\r\ncameras:\r\n  - id: a\r\n    url: rtsp://h/\r\n",
		"end marker": "---\ncameras:\n  - id: a\n    url: rtsp://h/\n...\n",
	} {
		t.Run(name, func(t *testing.T) {
			changed, err := AddCamera("x.yaml", []byte(content), section)
			require.NoError(t, err)
			cfg, err := Parse("x.yaml", changed)
			require.NoError(t, err)
			require.Equal(t, "gate2", cfg.Cameras[len(cfg.Cameras)-1].ID)
			rest := string(changed)
			for _, line := range strings.Split(strings.TrimSpace(section), "\n") {
				rest = strings.Replace(rest, strings.TrimSpace(line), "", 1)
			}
			if !strings.Contains(content, "cameras:") {
				rest = strings.Replace(rest, "cameras:", "", 1)
			}
			require.Equal(t, strings.Fields(content), strings.Fields(rest), "what was there is there")
		})
	}
}

func TestAddCameraToTheExample(t *testing.T) {
	content, err := os.ReadFile("vmsbridge.example.yaml")
	require.NoError(t, err)
	// Its secret files are not there, so that reading it again finds the same problems; the text
	// itself can be changed.
	s := &sheet{content: content}
	s.addCamera(Section(added))
	changed, err := s.content, s.err
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(changed), string(content)))
}

func TestAddCameraRefuses(t *testing.T) {
	section := Section(Camera{ID: "a", URL: "rtsp://h/"})
	for name, content := range map[string]string{
		"the same id": "cameras:\n  - id: a\n    url: rtsp://h2/\n",
		"brackets":    "cameras: [{id: b, url: 'rtsp://h/'}]\n",
		"all braces":  "{cameras: [{id: b, url: 'rtsp://h/'}]}\n",
		"no YAML":     "cameras: [",
		"problems":    "camera: 1\n",
	} {
		_, err := AddCamera("x.yaml", []byte(content), section)
		require.Error(t, err, name)
	}
}

func FuzzAddCamera(f *testing.F) {
	f.Add("cameras:\n  - id: a\n    url: rtsp://h/\n")
	f.Add("cameras:\n- {id: a, url: 'rtsp://h/'}\n# x\nlog: {level: info}\n")
	f.Fuzz(func(t *testing.T, content string) {
		changed, err := AddCamera("x.yaml", []byte(content), Section(Camera{ID: "new1", URL: "rtsp://h/new"}))
		if err != nil {
			return
		}
		cfg, err := Parse("x.yaml", changed)
		require.NoError(t, err)
		require.Equal(t, "new1", cfg.Cameras[len(cfg.Cameras)-1].ID)
	})
}
