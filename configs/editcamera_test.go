package configs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const threeCameras = `# mine
motion: {sensitivity: 0.4}
cameras:
  # the gate, by the road
  - id: gate   # its id
    name: 'The "gate"' # as people say
    url: rtsp://10.0.0.5/a
    username: viewer
    password: hunter2 # not mine
    motion:
      masks: [[[0, 0], [1, 0], [1, 1]]]

  # the yard
  # (both lines)
  - url: "rtsp://10.0.0.6/a"
    id: yard
  -
    id: hall
    url: rtsp://10.0.0.7/a
    # indented, at the end

# the end
log: {level: info}
`

func TestChangeCamera(t *testing.T) {
	for name, c := range map[string]struct {
		id       string
		edits    []Edit
		old, new string // of the text
	}{
		"a quoted value":     {"gate", []Edit{{"name", "Tor: \"1\""}}, `'The "gate"' #`, `"Tor: \"1\"" #`},
		"a plain one":        {"gate", []Edit{{"url", "rtsp://h/b?c=1"}}, "rtsp://10.0.0.5/a", "rtsp://h/b?c=1"},
		"on the dash's line": {"yard", []Edit{{"url", "rtsp://h/x"}}, `"rtsp://10.0.0.6/a"`, "rtsp://h/x"},
		"a new key":          {"yard", []Edit{{"name", "true"}}, "id: yard\n", "id: yard\n    name: \"true\"\n"},
		"a new key in order": {"gate", []Edit{{"preview_url", "rtsp://h/b"}}, "5/a\n",
			"5/a\n    preview_url: rtsp://h/b\n"},
		"a key goes":           {"gate", []Edit{{"password", ""}}, "    password: hunter2 # not mine\n", ""},
		"one that is not":      {"yard", []Edit{{"password", ""}}, "", ""},
		"switched off":         {"hall", []Edit{{"enabled", "false"}}, "7/a\n", "7/a\n    enabled: false\n"},
		"a password of a file": {"gate", []Edit{{"password", ""}, {"username", "x y"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			changed, err := ChangeCamera("x.yaml", []byte(threeCameras), c.id, c.edits...)
			require.NoError(t, err)
			if c.old != "" || c.new != "" {
				require.Equal(t, strings.Replace(threeCameras, c.old, c.new, 1), string(changed))
			}
			windows := []byte(strings.ReplaceAll(threeCameras, "\n", "\r\n"))
			windows, err = ChangeCamera("x.yaml", windows, c.id, c.edits...)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(string(changed), "\n", "\r\n"), string(windows))
		})
	}
}

func TestRemoveCamera(t *testing.T) {
	gate := threeCameras[strings.Index(threeCameras, "  # the gate"):strings.Index(threeCameras, "  # the yard")]
	yard := threeCameras[strings.Index(threeCameras, "  # the yard"):strings.Index(threeCameras, "  -\n")]
	hall := threeCameras[strings.Index(threeCameras, "  -\n"):strings.Index(threeCameras, "\n# the end")]
	content := []byte(threeCameras)
	for _, c := range [][2]string{{"gate", gate}, {"yard", yard}, {"hall", hall}} {
		changed, err := RemoveCamera("x.yaml", []byte(threeCameras), c[0])
		require.NoError(t, err)
		require.Equal(t, strings.Replace(threeCameras, c[1], "", 1), string(changed))
		content, err = RemoveCamera("x.yaml", content, c[0])
		require.NoError(t, err)
	}
	require.Equal(t, "# mine\nmotion: {sensitivity: 0.4}\ncameras:\n\n# the end\nlog: {level: info}\n", string(content))
	content, err := AddCamera("x.yaml", content, Section(Camera{ID: "attic", URL: "rtsp://h/"}))
	require.NoError(t, err, "one can be added to what is left")
	require.Contains(t, string(content), "cameras:\n  - id: attic\n")
}

// What cannot be edited line by line is refused, with what to do.
func TestEditsThatAreRefused(t *testing.T) {
	const one = "cameras:\n  - id: a\n    url: rtsp://h/\n"
	const anchored = "cameras:\n  - id: a\n    url: &u rtsp://h/\n  - id: b\n    url: *u\n"
	for name, c := range map[string]struct {
		content, want string
		edit          Edit
	}{
		"no such camera":      {"cameras:\n  - id: b\n    url: rtsp://h/\n", `no camera "a"`, Edit{"name", "x"}},
		"brackets":            {"cameras: [{id: a, url: rtsp://h/}]\n", "brackets", Edit{"name", "x"}},
		"braces":              {"cameras:\n  - {id: a, url: rtsp://h/}\n", "braces", Edit{"name", "x"}},
		"a block with a hash": {one + "    name: >-\n      long\n      # 2\n", "comments", Edit{"name", "x"}},
		"an anchor":           {anchored, "comments or anchors", Edit{"url", "rtsp://x/"}},
		"the first key": {"cameras:\n  - username: x\n    id: a\n    url: rtsp://h/\n",
			"first key", Edit{"username", ""}},
		"what another inherits": {"cameras:\n  - &a\n    id: a\n    url: rtsp://h/\n    username: x\n" +
			"  - <<: *a\n    id: b\n    url: rtsp://h/2\n", "something else would change", Edit{"username", "y"}},
		"a bad value": {one, "must begin with rtsp://", Edit{"url", "http://h/"}},
		"a bad file":  {"cameras:\n  - id: a\n", "missing", Edit{"name", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ChangeCamera("x.yaml", []byte(c.content), "a", c.edit)
			require.ErrorContains(t, err, c.want)
		})
	}
	for _, long := range []string{"    name: >-\n      long\n      name\n", "    name: long\n      name\n"} {
		changed, err := ChangeCamera("x.yaml", []byte(one+long+"# end\n"), "a", Edit{"name", "short"})
		require.NoError(t, err, "a value of several lines goes as a whole")
		require.Equal(t, one+"    name: short\n# end\n", string(changed))
	}
	_, err := RemoveCamera("x.yaml", []byte("cameras: [{id: a, url: rtsp://h/}]\n"), "a")
	require.ErrorContains(t, err, "brackets")
	_, err = RemoveCamera("x.yaml", []byte(anchored), "a")
	require.ErrorContains(t, err, "remove the camera: ", "another camera needs its anchor")
	_, err = RemoveCamera("x.yaml", nil, "a")
	require.ErrorContains(t, err, `no camera "a"`)
}

// Whatever a file looks like, an edit that is made is exactly that edit.
func FuzzChangeCamera(f *testing.F) {
	f.Add(threeCameras, "name", "x")
	f.Add("cameras:\n- id: gate\n  url: 'rtsp://h/' #x\n", "enabled", "false")
	f.Fuzz(func(t *testing.T, content, key, value string) {
		cfg, err := Parse("x.yaml", []byte(content))
		known := key == "name" || key == "url" || key == "username" || key == "preview_url"
		if err != nil || len(cfg.Cameras) == 0 || !known {
			return
		}
		id := cfg.Cameras[0].ID
		changed, err := ChangeCamera("x.yaml", []byte(content), id, Edit{key, value})
		if err == nil {
			after, err := Parse("x.yaml", changed)
			if err != nil || len(after.Cameras) != len(cfg.Cameras) {
				t.Fatalf("%q became %q: %v", content, changed, err)
			}
		}
		if changed, err := RemoveCamera("x.yaml", []byte(content), id); err == nil {
			after, err := Parse("x.yaml", changed)
			if err != nil || len(after.Cameras) != len(cfg.Cameras)-1 {
				t.Fatalf("%q became %q: %v", content, changed, err)
			}
		}
	})
}
