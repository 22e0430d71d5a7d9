package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/scripts/harness"
)

// load is what the file says now.
func (b *bench) load() []configs.Camera {
	b.t.Helper()
	cfg, err := configs.Load(b.file)
	require.NoError(b.t, err)
	return cfg.Cameras
}

// A camera gets another name, is switched off and on; a test of other addresses takes their place,
// and a new password a file of its own. All else stays.
func TestChange(t *testing.T) {
	urls, _ := harness.Camera(t, "--codec", "mjpeg", "--size", "320x184", "--fps", "10", "--user", "viewer",
		"--password", "s3cret-in-the-file", "--auth", "digest", "--path", "/user=viewer&password=s3cret")
	others, _ := harness.Camera(t, "--codec", "mjpeg", "--size", "320x184", "--fps", "10", "--user", "viewer",
		"--password", "s3cret-2", "--auth", "digest")
	b := newBench(t, "cameras:\n  - id: gate # its id\n    url: "+urls[0]+"\n    username: viewer\n    password: "+
		"s3cret-in-the-file\n# end\n")
	off := false
	require.NoError(t, b.Change(t.Context(), "gate", Change{Name: "Tor: 1", Enabled: &off}))
	require.Len(t, b.reloads, 1)
	require.Equal(t, []any{"Tor: 1", false}, []any{b.load()[0].Name, b.load()[0].Enabled})

	// Tested with the password that is kept, by the address as people see it.
	list, err := b.Cameras()
	require.NoError(t, err)
	require.NotContains(t, list[0].URL, "s3cret")
	trial, err := b.Try(t.Context(), Draft{Camera: "gate", URL: list[0].URL, Username: "viewer"})
	require.NoError(t, err)
	on := true
	require.NoError(t, b.Change(t.Context(), "gate", Change{Enabled: &on, Trial: trial.ID}))
	c := b.load()[0]
	require.Equal(t, []any{"Tor: 1", true, urls[0], "s3cret-in-the-file", ""},
		[]any{c.Name, c.Enabled, c.URL, c.Password.Reveal(), c.PasswordFile})

	// It goes to no other address, and to no other user.
	for _, d := range []Draft{{URL: others[0], Username: "viewer"}, {URL: list[0].URL, Username: "root"},
		{URL: "10.0.0.9", Username: "viewer"},
		{URL: list[0].URL, PreviewURL: others[0], Username: "viewer"}} {
		d.Camera = "gate"
		_, err = b.Try(t.Context(), d)
		require.ErrorContains(t, err, "password again", d.URL)
	}
	trial, err = b.Try(t.Context(),
		Draft{Camera: "gate", URL: others[0], Username: "viewer", Password: configs.NewSecret("s3cret-2")})
	require.NoError(t, err)
	require.ErrorContains(t, b.Change(t.Context(), "attic", Change{Trial: trial.ID}), "no camera attic")
	_, err = b.AddTried(t.Context(), trial.ID, "Other")
	require.ErrorContains(t, err, "test the camera again", "a test of one camera is not another's")
	require.NoError(t, b.Change(t.Context(), "gate", Change{Trial: trial.ID}))
	c = b.load()[0]
	require.Equal(t, []any{others[0], "s3cret-2", b.beside("secrets/gate.password")},
		[]any{c.URL, c.Password.Reveal(), c.PasswordFile})
	require.NotContains(t, b.text(), "s3cret-in-the-file")
	require.Contains(t, b.text(), "# its id")
	require.Contains(t, b.text(), "# end")

	// A password in a file that is not taken over comes back.
	before := b.text()
	require.NoError(t, os.WriteFile(c.PasswordFile, []byte("s3cret-before\n"), 0o600))
	b.problems = []string{"the card is full"}
	require.ErrorContains(t, b.Change(t.Context(), "gate", Change{Trial: trial.ID}), "the card is full")
	require.Equal(t, before, b.text())
	require.Equal(t, "s3cret-before", b.load()[0].Password.Reveal())

	require.NoError(t, b.Remove(t.Context(), "gate"))
	require.NoFileExists(t, c.PasswordFile)
	require.Equal(t, "cameras:\n# end\n", b.text())
	require.ErrorContains(t, b.Remove(t.Context(), "gate"), "no camera gate")
}

func TestChangesThatAreRefused(t *testing.T) {
	b := newBench(t, begun)
	for why, c := range map[string]Change{"line break": {Name: "a\nb"}, "Give the camera a name": {Name: "  "},
		"test the camera again": {Trial: "x"}} {
		b.refused(b.Change(t.Context(), "gate", c), why)
	}
	b.problems = []string{"the card is full"}
	b.refused(b.Remove(t.Context(), "gate"), "the card is full")
	braces := "cameras:\n  - {id: a, url: rtsp://h/}\n"
	b = newBench(t, braces)
	require.ErrorContains(t, b.Change(t.Context(), "a", Change{Name: "b"}), "braces")
	require.Equal(t, braces, b.text())

	// The file of a password that another camera uses stays.
	shared := "cameras:\n  - id: a\n    url: rtsp://h/1\n    username: u\n    password_file: secrets/a.password\n" +
		"  - id: b\n    url: rtsp://h/2\n    username: u\n    password_file: secrets/a.password\n"
	b = newBench(t, shared)
	require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(b.file), "secrets"), 0o700))
	require.NoError(t, os.WriteFile(b.beside("secrets/a.password"), []byte("x\n"), 0o600))
	require.NoError(t, b.Remove(t.Context(), "a"))
	require.FileExists(t, b.beside("secrets/a.password"))
}
