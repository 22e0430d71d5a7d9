package scripts_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/notify"
)

// block is a piece of code in a document.
type block struct {
	where, kind, text string
}

// documents are the project's, by their paths from its folder.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "bin") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[strings.TrimPrefix(path, "../")] = string(text)
		}
		return nil
	}))
	return found
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)?( run| letters)?\n(.*?)^```")

func blocks(t *testing.T) (list []block) {
	for name, text := range documents(t) {
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			list = append(list, block{name, m[1] + m[2], m[3]})
		}
		var lines []string
		for line := range strings.Lines(text) {
			if command := regexp.MustCompile(`^    ((?:\./scripts/|bin/|sudo |vmsbridge |vmscloud |lab ).*)`).
				FindStringSubmatch(line); command != nil {
				lines = append(lines, command[1])
			}
		}
		if lines != nil {
			list = append(list, block{name, "sh", strings.Join(lines, "\n")})
		}
	}
	return list
}

// The front page is short.
func TestTheReadmeIsShort(t *testing.T) {
	require.LessOrEqual(t, strings.Count(documents(t)["README.md"], "\n"), 120)
}

// The README's table of symptoms quotes what the programs say.
func TestSymptomsAreWhatIsSaid(t *testing.T) {
	_, table, _ := strings.Cut(documents(t)["README.md"], "## When something is wrong")
	table, _, _ = strings.Cut(table, "## More")
	var sources strings.Builder
	for _, dir := range []string{"../agent", "../cmd"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			sources.Write(text)
			return err
		}))
	}
	said := regexp.MustCompile(`" \+\s+"|%v %s `).ReplaceAllString(sources.String(), "")
	seen := 0
	for line := range strings.Lines(table) {
		symptom, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, quoted := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(symptom, -1) {
			for part := range strings.SplitSeq(strings.TrimPrefix(quoted[1], "H.264 "), " … ") {
				seen++
				require.True(t, strings.Contains(said, part), "no program says %q:\n%s", part, line)
			}
		}
	}
	require.Greater(t, seen, 3)
}

// Every file that a document links to or names by its path is there.
func TestDocumentsNameFilesThatAreThere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	names := regexp.MustCompile("`((?:agent|cmd|configs|motion|storage|uplink|scripts)/[\\w./-]+)")
	for name, text := range documents(t) {
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") {
				_, err := os.Stat(filepath.Join("..", filepath.Dir(name), m[1]))
				require.NoError(t, err, "%s links to %s", name, m[1])
			}
		}
		for _, m := range names.FindAllStringSubmatch(text, -1) {
			path := strings.TrimRight(m[1], "./")
			if _, err := os.Stat(filepath.Join("..", path)); err != nil && !strings.Contains(path, "NAME") &&
				!strings.HasSuffix(path, "BENCH.md") { // a script may write it
				_, beside := os.Stat(filepath.Join("..", filepath.Dir(name), path))
				require.NoError(t, beside, "%s names %s", name, path)
			}
		}
	}
}

// Every package and file that a comment of the sources names by its path is there.
func TestCommentsNameFilesThatAreThere(t *testing.T) {
	names := regexp.MustCompile(`(?:^|[^\w/.-])((?:agent|motion|storage|uplink|cmd)/[a-z][\w/-]*(?:\.\w+)?)`)
	seen := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			for _, m := range names.FindAllStringSubmatch(line, -1) {
				seen++
				name := strings.TrimRight(m[1], "./-")
				_, err := os.Stat(filepath.Join("..", name))
				_, lab := os.Stat(filepath.Join("..", "scripts/lab", name))
				require.False(t, err != nil && lab != nil, "%s names %s", path, name)
			}
		}
		return nil
	}))
	require.Greater(t, seen, 50, "no comment was read")
}

// programs are built as a user builds them, into bin/ of a folder; or they are those of the folder
// that VMSBRIDGE_TEST_PROGRAMS names.
func programs(t *testing.T) (dir string) {
	t.Helper()
	if made := os.Getenv("VMSBRIDGE_TEST_PROGRAMS"); made != "" {
		return filepath.Dir(made)
	}
	dir = t.TempDir()
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", "../cmd/vmsbridge", "../cmd/vmscloud").
		CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// Every piece of code in every document does what it says, as written: YAML is a configuration
// without a problem, what is marked to be run runs in an empty folder, and every other command line
// names commands and flags that there are.
func TestDocumentsSayWhatWorks(t *testing.T) {
	dir := programs(t)
	run := func(in, name string, args ...string) (string, error) {
		if strings.HasPrefix(name, "vms") {
			name = filepath.Join(dir, "bin", name)
		}
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = in, append(os.Environ(), "PATH="+dir+"/bin:"+os.Getenv("PATH"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	seen := map[string]int{}
	for _, b := range blocks(t) {
		seen[b.kind]++
		switch b.kind {
		case "yaml":
			in := t.TempDir()
			for _, m := range regexp.MustCompile(`(?:password|secret|token)_file: ([\w.-]+)`).FindAllStringSubmatch(b.text, -1) {
				require.NoError(t, os.WriteFile(filepath.Join(in, m[1]), []byte("0123456789abcdef0123456789\n"), 0o600))
			}
			file := filepath.Join(in, "vmsbridge.yaml")
			text := strings.ReplaceAll(b.text, "/usr/lib/aarch64-linux-gnu", in) // a folder that only such boards have
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			out, err := run(in, "vmsbridge", "check", file)
			require.NoError(t, err, "%s:\n%s\n%s", b.where, b.text, out)
		case "yaml letters":
			in := t.TempDir()
			for _, m := range regexp.MustCompile(`(?:password|secret)_file: ([\w.-]+)`).FindAllStringSubmatch(b.text, -1) {
				require.NoError(t, os.WriteFile(filepath.Join(in, m[1]), []byte("0123456789abcdef\n"), 0o600))
			}
			file := filepath.Join(in, "letters.yaml")
			require.NoError(t, os.WriteFile(file, []byte(b.text), 0o600))
			_, err := notify.LoadSettings(file)
			require.NoError(t, err, "%s:\n%s", b.where, b.text)
		case "haproxy":
			if _, err := exec.LookPath("haproxy"); err != nil {
				t.Log("haproxy is not installed: apt install haproxy (scripts/deps does)")
				continue
			}
			file := filepath.Join(t.TempDir(), "haproxy.cfg")
			const around = "defaults\n mode http\n timeout client 1m\n timeout connect 5s\n" +
				"frontend all\n bind 127.0.0.1:8470\n default_backend vmscloud\n"
			require.NoError(t, os.WriteFile(file, []byte(around+b.text), 0o600))
			out, err := run(t.TempDir(), "haproxy", "-c", "-f", file)
			require.NoError(t, err, "%s:\n%s\n%s", b.where, b.text, out)
		case "python", "ini": // uplink/webhook runs it; a part of a unit, for boards
		case "sh run":
			in := t.TempDir()
			require.NoError(t, os.Symlink(filepath.Join(dir, "bin"), filepath.Join(in, "bin")))
			out, err := run(in, "bash", "-euo", "pipefail", "-c", b.text)
			require.NoError(t, err, "%s:\n%s\n%s", b.where, b.text, out)
		case "sh":
			out, err := run(t.TempDir(), "bash", "-n", "-c", b.text)
			require.NoError(t, err, "%s:\n%s\n%s", b.where, b.text, out)
			for line := range strings.Lines(b.text) {
				commandLine(t, b.where, line, func(args ...string) (string, error) {
					return run(dir, args[0], args[1:]...)
				})
			}
		default:
			require.Fail(t, "a block that nothing checks", "%s: %q:\n%s", b.where, b.kind, b.text)
		}
	}
	require.Greater(t, seen["yaml"], 4, "%v", seen)
	require.Greater(t, seen["sh run"], 1, "%v", seen)
	require.Greater(t, seen["sh"], 5, "%v", seen)
}

// commandLine checks that a line of a document calls what there is.
func commandLine(t *testing.T, where, line string, run func(args ...string) (string, error)) {
	line, _, _ = strings.Cut(line, " #")
	for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", ";"), ";") {
		words := strings.Fields(part)
		if len(words) > 0 && words[0] == "sudo" {
			words = words[1:]
			if len(words) > 2 && words[0] == "-u" {
				words = words[2:]
			}
		}
		if len(words) == 0 {
			continue
		}
		if strings.HasPrefix(words[0], "./scripts/") || strings.HasPrefix(words[0], "scripts/") {
			_, err := os.Stat(filepath.Join("..", words[0]))
			require.NoError(t, err, "%s: %s", where, line)
			continue
		}
		program := filepath.Base(words[0])
		if program != "vmsbridge" && program != "vmscloud" {
			continue
		}
		// The words that are commands, then the flags, against the program's own help.
		help, err := run(program, "help")
		require.NoError(t, err)
		at := []string{program}
		for _, word := range words[1:] {
			if text, err := run(append(append([]string{program, "help"}, at[1:]...), word)...); err == nil {
				at, help = append(at, word), text
				continue
			}
			break
		}
		require.Greater(t, len(at), 1, "%s: %q is no command of %s", where, line, program)
		for _, m := range regexp.MustCompile(`(?:^| )(-{1,2}[a-z][\w-]*)`).FindAllStringSubmatch(part, -1) {
			flag := m[1]
			if flag == "-u" && strings.Contains(part, "sudo -u") && !strings.Contains(help, "-u,") {
				continue
			}
			require.Regexp(t, `(?m)^ +(-\w, )?`+flag+`\b|^ +`+flag+`,`, help, "%s: %q: %s has no %s", where, line,
				strings.Join(at, " "), flag)
		}
	}
}
