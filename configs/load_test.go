package configs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected messages in testdata")

// secrets stands in several bad files; no message may ever repeat it.
const planted = "hunter2"

// Every testdata/bad/*.yaml is refused with exactly the messages of the .want file beside it.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cfg, err := Load(file)
			require.Nil(t, cfg)
			require.ErrorAs(t, err, new(Problems), "not refused")
			got := strings.ReplaceAll(err.Error(), absolutePath(t, "testdata"), "TESTDATA") + "\n"
			require.NotContains(t, got, planted)
			want := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update {
				require.NoError(t, os.WriteFile(want, []byte(got), 0o644))
			}
			text, err := os.ReadFile(want)
			require.NoError(t, err)
			require.Equal(t, string(text), got)
		})
	}
}

// Every testdata/good/*.yaml is accepted; a .want file beside it holds the warnings.
func TestGoodFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			cfg, err := Parse(file, content) // without what Load sees of the file's own mode and of this machine's disk
			require.NoError(t, err)
			got := ""
			if len(cfg.Warnings) > 0 {
				got = cfg.Warnings.Error() + "\n"
			}
			want := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update && got != "" {
				require.NoError(t, os.WriteFile(want, []byte(got), 0o644))
			}
			text, err := os.ReadFile(want)
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
			require.Equal(t, string(text), got)
		})
	}
}

// The example is the reference: it loads without a word, and holds every key that the code knows.
func TestExample(t *testing.T) {
	dir := t.TempDir()
	example, err := os.ReadFile("vmsbridge.example.yaml")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
	for _, name := range []string{"service.token", "lan.token", "gate.password", "yard.password"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets", name), []byte("0123456789abcdef-"+name+"\n"),
			0o600))
	}
	path := filepath.Join(dir, "vmsbridge.yaml")
	require.NoError(t, os.WriteFile(path, example, 0o644))
	cfg, err := Load(path)
	require.NoError(t, err)
	require.Empty(t, cfg.Warnings)
	require.Equal(t, "0123456789abcdef-gate.password", cfg.Cameras[0].Password.Reveal())
	require.Equal(t, Default().Stills, cfg.Stills, "the example shows the defaults")
	require.Equal(t, Default().Decode.Isolation, cfg.Decode.Isolation)
	require.Equal(t, Default().Motion, cfg.Motion)
	for _, key := range everyKey() {
		require.True(t, regexp.MustCompile(`(^|[^a-z_])`+key+`:`).Match(example), "the example does not mention %s",
			key)
	}
}

func TestEmptyFileIsDefaults(t *testing.T) {
	for _, content := range []string{"", "\n", "# nothing\n", "---\n", "~\n", "\xef\xbb\xbf", "cameras:\n",
		"cameras: []\n"} {
		cfg, err := Parse("x.yaml", []byte(content))
		require.NoError(t, err, "%q", content)
		require.Contains(t, cfg.Warnings.Error(), "no camera is configured")
		require.Equal(t, Default().Stills, cfg.Stills)
		require.Equal(t, "127.0.0.1:8480", cfg.API.Listen)
		require.True(t, cfg.Service.ReportOngoing)
	}
}

// What a camera does not say is the file's default, and that wherever `motion` stands in the file.
func TestMotionIsMerged(t *testing.T) {
	cfg, err := Parse("x.yaml", []byte(`
cameras:
  - id: a
    url: rtsp://h/1
    motion: {sensitivity: 0.9, quiet_period: 0s, tamper: true, regions: [{id: r, area: [[0,0],[1,0],[1,1]]}, {id: s, sensitivity: 0.1, area: [[0,0],[1,0],[1,1]]}]}
  - {id: b, url: "rtsp://h/2", enabled: false}
motion: {sensitivity: 0.2, quiet_period: 7s, rate: 5, tamper: false}
`))
	require.NoError(t, err)
	a, b := cfg.Cameras[0], cfg.Cameras[1]
	require.Equal(t, Motion{Sensitivity: 0.9, Rate: 5, Tamper: true}, a.Motion.Motion)
	require.Equal(t, 0.9, a.Motion.Regions[0].Sensitivity)
	require.Equal(t, 0.1, a.Motion.Regions[1].Sensitivity)
	require.Equal(t, Motion{Sensitivity: 0.2, Rate: 5, QuietPeriod: 7 * time.Second}, b.Motion.Motion)
	require.True(t, a.Enabled)
	require.False(t, b.Enabled)
	require.Equal(t, "auto", b.Transport)
	require.Equal(t, "b", b.Name)
}

// Any characters of a password survive, as text and as a file.
func TestPasswords(t *testing.T) {
	dir := t.TempDir()
	odd := `p@ss:w/ö#r d?%41'"\`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pw"), []byte(odd+"\r\n"), 0o600))
	cfg, err := Parse(filepath.Join(dir, "x.yaml"), []byte(`
cameras:
  - {id: a, url: "rtsp://h/1", username: "ü:@", password_file: pw}
  - {id: b, url: "rtsp://h/1", username: u, password: 0123}
  - {id: c, url: "rtsp://h/1", username: u, password: true}
`))
	require.NoError(t, err)
	require.Equal(t, odd, cfg.Cameras[0].Password.Reveal())
	require.Equal(t, "ü:@", cfg.Cameras[0].Username)
	require.Equal(t, "0123", cfg.Cameras[1].Password.Reveal(), "a number is the text that was written")
	require.Equal(t, "true", cfg.Cameras[2].Password.Reveal())
}

func TestSecretFileThatMayNotBeRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pw"), []byte(planted), 0o000))
	_, err := Parse(filepath.Join(dir, "x.yaml"), []byte("cameras:\n  - id: a\n    url: rtsp://h/1\n    username: "+
		"u\n    password_file: "+dir+"/pw\n"))
	if os.Geteuid() == 0 {
		require.NoError(t, err, "root reads everything")
		return
	}
	require.EqualError(t, err, filepath.Join(dir, "x.yaml")+":5:5: cameras[0].password_file: cannot read "+dir+
		"/pw: permission denied")
}

func TestFilesThatCannotBeRead(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Load(t.TempDir())
	require.ErrorContains(t, err, "read configuration")
	_, err = Parse("x.yaml", []byte(strings.Repeat("# long\n", maxFile/7+1)))
	require.EqualError(t, err, "x.yaml:1:1: the file is larger than 1MiB")
}

// A few lines that would grow to billions of values are refused at once.
func TestBillionLaughs(t *testing.T) {
	s := "a0: &a0 [[0,0],[0,1],[1,1]]\n"
	for _, n := range []string{"1", "2", "3"} {
		prev := string(n[0] - 1)
		s += "a" + n + ": &a" + n + " [" + strings.Repeat("*a"+prev+", ", 200) + "]\n"
	}
	s += "cameras: [{id: a, url: 'rtsp://h/', motion: {masks: [" + strings.Repeat("*a0, ", 40_000) + "]}}]\n"
	_, err := Parse("x.yaml", []byte(s))
	require.ErrorContains(t, err, "grows above 100000 values")
}

// A file of another kind has thousands of unknown keys: the first are told, and how many there are.
func TestNoEndOfProblems(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	_, err := Parse("x.yaml", []byte(b.String()))
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, maxProblems+1)
	require.Contains(t, lines[0], "x.yaml:1:1: key0: unknown key")
	require.Contains(t, lines[maxProblems-1], "x.yaml:100:1: key99: unknown key")
	require.Equal(t, "x.yaml:100:1: and 19900 more", lines[maxProblems])
}

func absolutePath(t *testing.T, p string) string {
	abs, err := filepath.Abs(p)
	require.NoError(t, err)
	return abs
}
