package scripts_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every script says in its first comment line what it does, can be run, and parses.
func TestScriptsSayWhatTheyDo(t *testing.T) {
	scripts, err := filepath.Glob("[a-z]*")
	require.NoError(t, err)
	scripts = append(scripts, "../.ci/run")
	seen := 0
	for _, script := range scripts {
		if info, err := os.Stat(script); strings.HasSuffix(script, ".go") || err == nil && info.IsDir() {
			continue // Go, tested as such
		}
		seen++
		name := filepath.Base(script)
		content, err := os.ReadFile(script)
		require.NoError(t, err)
		lines := strings.Split(string(content), "\n")
		if name == "env" {
			require.True(t, strings.HasPrefix(lines[0], "# env: "))
		} else {
			require.Equal(t, "#!/usr/bin/env bash", lines[0], script)
			require.True(t, strings.HasPrefix(lines[1], "# "+name+": "), "%s: %s", script, lines[1])
			require.Contains(t, string(content), "set -euo pipefail", script)
			st, err := os.Stat(script)
			require.NoError(t, err)
			require.NotZero(t, st.Mode()&0o111, "%s is not executable", script)
		}
		out, err := exec.Command("bash", "-n", script).CombinedOutput()
		require.NoError(t, err, "%s: %s", script, out)
	}
	require.Greater(t, seen, 7)
}

// What a test says that scripts/deps installs, it does. What Debian always has needs no mention.
func TestDepsInstallsWhatTestsNeed(t *testing.T) {
	out, err := exec.Command("bash", "deps", "--list").Output()
	require.NoError(t, err)
	needed, _, _ := strings.Cut(string(out), "\n")
	packages := append(strings.Fields(needed), "util-linux")
	says := regexp.MustCompile(`apt install ([a-z0-9 .+-]+) \(scripts/deps does|needProgram\(t, "[^"]+", "([^"]+)"\)`)
	found := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range says.FindAllStringSubmatch(string(text), -1) {
			for _, name := range strings.Fields(m[1] + " " + m[2]) {
				found++
				require.Contains(t, packages, name, "%s needs it", path)
			}
		}
		return err
	}))
	require.Greater(t, found, 10)
}

// box is a machine as scripts/deps sees it: its commands are stand-ins that answer from files, so
// that nothing of the real machine is touched.
type box struct {
	t   *testing.T
	dir string
}

// newBox makes a machine with these packages installed, and a project in a folder with a space in
// its name.
func newBox(t *testing.T, installed ...string) *box {
	t.Helper()
	b := &box{t, t.TempDir()}
	for _, dir := range []string{"bin", "a project/scripts"} {
		require.NoError(t, os.MkdirAll(filepath.Join(b.dir, dir), 0o755))
	}
	for _, name := range []string{"deps", "env"} {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		b.file("a project/scripts/"+name, string(content))
	}
	b.file("a project/go.mod", "module x\n\ngo 1.26.0\n")
	b.file("installed", strings.Join(installed, "\n")+"\n")
	b.file("log", "")
	for _, tool := range []string{"bash", "env", "dirname", "sed", "sort", "head", "tail", "grep", "xargs", "mktemp",
		"rm", "cat", "echo", "sleep", "touch", "true"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(b.dir, "bin", tool)))
	}
	b.tool("go", `case "$1 $2" in "env GOVERSION") echo go1.26.8 ;; esac`)
	b.tool("git", "exit 0")
	b.tool("id", "cat "+b.path("uid"))
	b.tool("sudo", "exit 1")
	b.tool("dpkg-query", `for p; do :; done; grep -qx "$p" `+b.path("installed")+` && printf installed`)
	b.tool("apt-cache", `[ -e `+b.path("lists")+
		` ] || exit 0; for p; do :; done; case $p in libavcodec6*|libavcodec58|libavcodec-extra6*|*8-dev) echo "  Candidate: (none)";; *) echo "  Candidate: 1.0";; esac`)
	b.tool("apt-get", `echo "apt-get $*" >>`+b.path("log")+`
for p; do case $p in update) touch `+b.path("lists")+` ;; -*|install|*=*|*::*) ;; *) echo "$p" >>`+b.path("installed")+` ;; esac; done`)
	b.file("lists", "")
	b.file("uid", "0\n")
	return b
}

func (b *box) path(name string) string { return filepath.Join(b.dir, name) }

func (b *box) file(name, text string) {
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(text), 0o755))
}

func (b *box) tool(name, script string) {
	b.file("bin/"+name, "#!"+b.path("bin/bash")+"\n"+script+"\n")
}

func (b *box) deps(args ...string) (out string, code int) {
	cmd := exec.Command(b.path("bin/bash"), append([]string{b.path("a project/scripts/deps")}, args...)...)
	cmd.Env = []string{"PATH=" + b.path("bin"), "HOME=" + b.dir, "TMPDIR=" + b.dir}
	cmd.Dir = "/"
	text, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		require.NoError(b.t, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (b *box) log() string {
	text, err := os.ReadFile(b.path("log"))
	require.NoError(b.t, err)
	return string(text)
}

// forDemo is what a Debian 12 needs for the demo.
var forDemo = []string{"gcc", "libc6-dev", "libjpeg62-turbo-dev", "ca-certificates", "libavcodec59", "libturbojpeg0",
	"ffmpeg"}

func TestDepsInstallsOnlyWhatIsMissing(t *testing.T) {
	b := newBox(t, "gcc", "libc6-dev", "ca-certificates", "ffmpeg", "libavcodec-extra59")
	out, code := b.deps("--demo")
	require.Zero(t, code, out)
	require.Contains(t, b.log(), "install -y --no-install-recommends libjpeg62-turbo-dev libturbojpeg0\n")
	require.NotContains(t, b.log(), "update", "the lists are there")
	b.file("log", "")
	out, code = b.deps("--demo")
	require.Zero(t, code)
	require.Contains(t, out, "nothing is missing")
	require.Empty(t, b.log())
}

// A fresh system has no package lists: they are read first, and the names are chosen by what they
// offer.
func TestDepsOnAFreshSystem(t *testing.T) {
	b := newBox(t)
	require.NoError(t, os.Remove(b.path("lists")))
	out, code := b.deps("--demo")
	require.Zero(t, code, out)
	log := strings.Split(strings.TrimSpace(b.log()), "\n")
	require.Len(t, log, 2)
	require.Contains(t, log[0], " update")
	for _, p := range forDemo {
		require.Contains(t, log[1]+" ", " "+p+" ")
	}
}

// Without the right to install, it says exactly what to install, changes nothing and exits 1.
func TestDepsWithoutRoot(t *testing.T) {
	b := newBox(t, "gcc")
	b.file("uid", "1000\n")
	out, code := b.deps("--demo")
	require.Equal(t, 1, code)
	require.Contains(t, out, "sudo apt-get update && sudo apt-get install -y --no-install-recommends "+
		strings.Join(forDemo[1:], " ")+"\n")
	require.Empty(t, b.log())

	// Without package lists nobody knows how this release numbers libavcodec; ffmpeg brings it.
	require.NoError(t, os.Remove(b.path("lists")))
	out, code = b.deps("--demo")
	require.Equal(t, 1, code)
	require.Contains(t, out, " libturbojpeg0 ffmpeg\n")
	require.NotContains(t, out, "libavcodec")

	b = newBox(t, forDemo...)
	b.file("uid", "1000\n")
	_, code = b.deps("--demo")
	require.Zero(t, code, "nothing is missing, so no right is needed")

	b = newBox(t, "gcc")
	b.file("uid", "1000\n")
	b.tool("sudo", `while [[ $1 == -* ]]; do shift; done; exec "$@"`)
	out, code = b.deps("--demo")
	require.Zero(t, code, out)
	require.Contains(t, b.log(), "install -y")
}

func TestDepsWithoutApt(t *testing.T) {
	b := newBox(t)
	require.NoError(t, os.Remove(b.path("bin/apt-get")))
	out, code := b.deps("--demo")
	require.Equal(t, 1, code)
	require.Contains(t, out, "no apt-get")
	require.Contains(t, out, "ffmpeg")
	require.Contains(t, out, "VMSBRIDGE_NO_DEPS=1")
}

// The compiler for the other machine is heavy, and only what builds for it asks for it.
func TestDepsAsksForACrossCompilerOnlyWhereItIsNeeded(t *testing.T) {
	for option, want := range map[string]bool{"": false, "--demo": false, "--build": false, "--release": true,
		"--arm64": true} {
		b := newBox(t)
		args := []string{"--list"}
		if option != "" {
			args = append(args, option)
		}
		out, code := b.deps(args...)
		require.Zero(t, code, out)
		require.Equal(t, want, strings.Contains(out, " gcc-aarch64-linux-gnu "), "%q: %s", option, out)
		require.Equal(t, option != "--demo" && option != "--build", strings.Contains(out, " qemu-user\n"), "%q: %s",
			option, out)
		require.Equal(t, option == "--release", strings.Contains(out, " debootstrap "), "%q: %s", option, out)
		require.Empty(t, b.log(), "nothing is installed to list it")
	}
}

// Scripts refuse what they do not understand, before they do anything, and say what they take.
func TestScriptsRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, args := range [][]string{{"build", "--arm64"}, {"libavcodec", "arm64"}, {"release", "--publish"},
		{"sysroot", "mips"}, {"sysroot"}, {"trial", "amd64"},
		{"emulate", "arm64"}, {"test", "--fast"}, {"deps", "--everything"}} {
		out, err := exec.Command("./"+args[0], args[1:]...).CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%v", args)
		require.Equal(t, 2, exit.ExitCode(), "%v: %s", args, out)
		require.Contains(t, string(out), "scripts/"+args[0], "%v", args)
	}
	out, err := exec.Command("./libavcodec", "--arch", "mips").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "the architectures are amd64, arm64 and armhf, not mips")
}

func TestDepsWhenInstallingFails(t *testing.T) {
	b := newBox(t, "gcc")
	b.tool("apt-get", `echo "apt-get $*" >>`+b.path("log")+`; echo "E: Unable to fetch"; exit 100`)
	out, code := b.deps("--demo")
	require.Equal(t, 1, code)
	require.Contains(t, out, "E: Unable to fetch")
	require.Contains(t, out, "Try: sudo apt-get install")
}

func TestDepsSaysWhenGoIsMissingOrTooOld(t *testing.T) {
	for name, tc := range map[string]struct{ tool, want string }{
		"too old": {`[ "$1" = env ] && echo go1.25.9`, "Go 1.26.0 or newer is needed, this is 1.25.9"},
		"may not fetch": {`echo "go: go.mod requires go >= 1.26.0 (running go 1.22.1; GOTOOLCHAIN=local)" >&2; exit 1`,
			"Go 1.26.0 or newer is needed"},
	} {
		b := newBox(t, "gcc")
		b.tool("go", tc.tool)
		out, code := b.deps("--demo")
		require.Equal(t, 1, code, name)
		require.Contains(t, out, tc.want, name)
		require.Empty(t, b.log(), "%s: nothing is installed for nothing", name)
	}
	for _, version := range []string{"go1.26.0", "go1.27.3", "go1.26.8 X:nodwarf5"} {
		b := newBox(t, forDemo...)
		b.tool("go", `[ "$1" = env ] && echo "`+version+`"`)
		out, code := b.deps("--demo")
		require.Zero(t, code, "%s: %s", version, out)
	}
}

// A path is relative to where its caller is, not to the project's folder.
func TestPathsAreTheCallers(t *testing.T) {
	env, err := filepath.Abs("env")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	for given, want := range map[string]string{"a": dir + "/sub/a", "../b/c": dir + "/b/c", "/d": "/d"} {
		cmd := exec.Command("bash", "-c", `. "$0" && given "$1" && pwd`, env, given)
		cmd.Dir = filepath.Join(dir, "sub")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want+"\n"+filepath.Dir(filepath.Dir(env))+"\n", string(out))
	}
	scripts, err := filepath.Glob("[a-z]*")
	require.NoError(t, err)
	for _, path := range scripts {
		if text, err := os.ReadFile(path); err == nil && path != "env" && filepath.Ext(path) == "" {
			require.NotContains(t, string(text), "realpath", "%s: given is for the paths of a caller", path)
		}
	}
}
