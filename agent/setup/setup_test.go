package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/scripts/harness"
)

func TestMain(m *testing.M) {
	codec.RunWorker() // the tests' decoder processes are this binary
	if file := os.Getenv(asService); file != "" {
		os.Exit(becomeService(file))
	}
	os.Exit(m.Run())
}

// asService has the test binary add a camera to a file as a user and group of its own.
const asService, serviceID = "VMSBRIDGE_TEST_AS_SERVICE", 65534

func becomeService(file string) int {
	err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(serviceID), syscall.Setuid(serviceID))
	if err == nil {
		_, err = New(Options{File: file, Libraries: func() []string { return nil },
			Reload: func(context.Context) ([]string, error) { return nil, nil }}).Add(context.Background(), yard)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// The package leaves a folder of root's that the service's group may write, and a file that root
// made or the service: the service adds cameras to either, and says what to do where it may not.
func TestAddAsTheServicesUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else: run this as root")
	}
	for name, c := range map[string]struct {
		folder os.FileMode
		owner  int
		wrong  string
	}{"the service's file": {0o770, serviceID, ""}, "root's file": {0o770, 0, ""},
		"a folder to read": {0o750, serviceID, "chmod g+ws"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, begun)
			dir := filepath.Dir(b.file)
			require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
			require.NoError(t, errors.Join(os.Chown(dir, 0, serviceID), os.Chmod(dir, c.folder|os.ModeSetgid),
				os.Chown(b.file, c.owner, serviceID)))
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asService+"="+b.file)
			out, err := cmd.CombinedOutput()
			if c.wrong != "" {
				require.Error(t, err)
				require.Contains(t, string(out), c.wrong)
				require.Equal(t, begun, b.text())
				return
			}
			require.NoError(t, err, "%s", out)
			require.Contains(t, b.text(), "id: yard-north")
			info, err := os.Stat(b.file)
			require.NoError(t, err)
			_, gid := OwnerOf(info)
			require.Equal(t, serviceID, gid)
			require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "root and the service read it, nobody else")
		})
	}
}

// bench is a Setup over a file, with what the bridge says to a reload.
type bench struct {
	*Setup
	t        *testing.T
	file     string
	reloads  []string // what the file said at each
	problems []string // of the next reload
}

const begun = "# mine\nlog: {level: info} # stays\ncameras:\n  # the first\n  - id: gate\n    url: rtsp://10.0.0.5/a " +
	"# main\n" +
	"    username: viewer\n    password: s3cret-in-the-file\n\n# the end\n"

func newBench(t *testing.T, content string) *bench {
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "vmsbridge.yaml")}
	require.NoError(t, os.WriteFile(b.file, []byte(content), 0o640))
	b.Setup = New(Options{File: b.file, Libraries: func() []string { return nil },
		Reload: func(context.Context) ([]string, error) {
			b.reloads = append(b.reloads, b.text())
			problems := b.problems
			b.problems = nil
			return problems, nil
		}})
	return b
}

func (b *bench) text() string {
	raw, err := os.ReadFile(b.file)
	require.NoError(b.t, err)
	return string(raw)
}

// refused requires a refusal that says something, and that the file is what it was.
func (b *bench) refused(err error, why string) {
	b.t.Helper()
	refusal, ok := errors.AsType[*Refusal](err)
	require.True(b.t, ok, "%v", err)
	require.Contains(b.t, refusal.Reason, why)
	require.NotContains(b.t, refusal.Reason, "s3cret")
	require.Equal(b.t, begun, b.text())
	left, err := filepath.Glob(filepath.Join(filepath.Dir(b.file), "secrets", "*"))
	require.NoError(b.t, err)
	require.Empty(b.t, left, "a password of a camera that was refused")
}

var yard = Draft{Name: "Yard: \"north\"", URL: "rtsp://10.0.0.6/a", PreviewURL: "rtsp://10.0.0.6/b", Username: "viewer",
	Password: configs.NewSecret("s3cret-of-the-yard"), AllowInsecureBasic: true}

// A camera is written with everything that was said of it; all else stays, and the password is in
// its own file.
func TestAdd(t *testing.T) {
	b := newBench(t, begun)
	id, err := b.Add(t.Context(), yard)
	require.NoError(t, err)
	require.Equal(t, "yard-north", id)
	require.Len(t, b.reloads, 1)
	require.Equal(t, b.text(), b.reloads[0])
	for _, line := range []string{"# mine", "# stays", "# the first", "# main", "# the end"} {
		require.Contains(t, b.text(), line)
	}
	require.NotContains(t, b.text(), "s3cret-of-the-yard")
	cfg, err := configs.Load(b.file)
	require.NoError(t, err)
	c := cfg.Cameras[1]
	require.Equal(t, []any{yard.Name, yard.URL, yard.PreviewURL, yard.Username, "s3cret-of-the-yard", true, true},
		[]any{c.Name, c.URL, c.PreviewURL, c.Username, c.Password.Reveal(), c.AllowInsecureBasic, c.Enabled})
	info, err := os.Stat(filepath.Join(filepath.Dir(b.file), "secrets", "yard-north.password"))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o007)

	second := yard
	second.URL, second.Password, second.Username = "rtsp://10.0.0.7/a", configs.Secret{}, ""
	id, err = b.Add(t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, "yard-north-2", id, "an id of its own")

	list, err := b.Cameras()
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, Camera{ID: "yard-north", Name: yard.Name, URL: yard.URL, PreviewURL: yard.PreviewURL,
		Username:    "viewer",
		HasPassword: true, AllowInsecureBasic: true, Enabled: true}, list[1])
}

func TestAddRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *Draft)
		why    string
	}{
		"no name":               {func(d *Draft) { d.Name = " " }, "name"},
		"a long name":           {func(d *Draft) { d.Name = strings.Repeat("x", 101) }, "100 characters"},
		"a line break":          {func(d *Draft) { d.Name = "a\n  url: b" }, "line break"},
		"a password's break":    {func(d *Draft) { d.Password = configs.NewSecret("s3cret\nx") }, "line break"},
		"no text":               {func(d *Draft) { d.Username = "\xff" }, "cannot be written"},
		"a long address":        {func(d *Draft) { d.URL += strings.Repeat("x", 1000) }, "1000 bytes"},
		"a password for nobody": {func(d *Draft) { d.Username = "" }, "user name"},
		"a host":                {func(d *Draft) { d.URL = "10.0.0.9" }, "tested first"},
		"another scheme":        {func(d *Draft) { d.URL = "http://10.0.0.9/x" }, "rtsp://"},
		"a password in it":      {func(d *Draft) { d.URL = "rtsp://viewer:s3cret@10.0.0.9/x" }, "own fields"},
		"a bad one with it":     {func(d *Draft) { d.URL = "rtsp://viewer:s3%cret@10.0.0.9/x" }, "own fields"},
		"a bad small stream":    {func(d *Draft) { d.PreviewURL = "x" }, "rtsp://"},
		"a stream that is there": {func(d *Draft) { d.URL = "rtsp://10.0.0.5/a" },
			"watched already, by the camera gate"},
		"a port that is none": {func(d *Draft) { d.URL = "rtsp://10.0.0.9:99999/x" }, "port from 1 to 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			b, d := newBench(t, begun), yard
			c.change(&d)
			_, err := b.Add(t.Context(), d)
			b.refused(err, c.why)
			require.Empty(t, b.reloads)
		})
	}
}

// What the bridge does not take over is not kept: file and password are what they were, and it
// reads the file again.
func TestAddIsUndone(t *testing.T) {
	b := newBench(t, begun)
	b.problems = []string{"the card is full"}
	_, err := b.Add(t.Context(), yard)
	b.refused(err, "the card is full")
	require.Len(t, b.reloads, 2)
	require.Equal(t, begun, b.reloads[1])
}

// A file with problems, in brackets or that is not there is left alone, with the reason.
func TestFilesThatCannotBeChanged(t *testing.T) {
	for content, why := range map[string]string{"cameras: [{id: a, url: rtsp://h/}]\n": "brackets",
		"nonsense: 1\n": "nonsense"} {
		b := newBench(t, content)
		_, err := b.Add(t.Context(), yard)
		require.ErrorContains(t, err, why)
		require.Equal(t, content, b.text())
	}
	b := newBench(t, begun)
	require.NoError(t, os.Remove(b.file))
	_, err := b.Add(t.Context(), yard)
	require.ErrorContains(t, err, "cannot be read")
}

// A trial shows a picture and stands for what was tested; its secrets stay.
func TestTry(t *testing.T) {
	urls, _ := harness.Camera(t, "--codec", "mjpeg", "--size", "320x184", "--fps", "10", "--user", "viewer",
		"--password", "s3cret", "--auth", "digest", "--path", "/user=viewer&password=s3cret")
	b := newBench(t, begun)
	d := Draft{URL: urls[0], Username: "viewer", Password: configs.NewSecret("s3cret")}
	trial, err := b.Try(t.Context(), d)
	require.NoError(t, err)
	require.NotContains(t, trial.URL, "s3cret")
	require.Equal(t, []int{320, 184}, []int{trial.Picture.Width, trial.Picture.Height})
	require.NotEmpty(t, trial.Picture.JPEG)
	_, err = b.AddTried(t.Context(), "another", "Hall")
	b.refused(err, "test the camera again")
	id, err := b.AddTried(t.Context(), trial.ID, "Hall")
	require.NoError(t, err)
	cfg, err := configs.Load(b.file)
	require.NoError(t, err)
	require.Equal(t, "hall", id)
	require.Equal(t, urls[0], cfg.Cameras[1].URL)
	list, err := b.Cameras()
	require.NoError(t, err)
	require.NotContains(t, list[1].URL, "s3cret")

	d.Password = configs.NewSecret("wrong")
	_, err = b.Try(t.Context(), d)
	require.ErrorContains(t, err, "password")
	b.trying <- struct{}{}
	b.trying <- struct{}{}
	_, err = b.Try(t.Context(), d)
	require.ErrorContains(t, err, "in a moment")
}
