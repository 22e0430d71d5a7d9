package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// commands is a command line with everything that the two writers must take care of.
type commands struct {
	Config string `short:"c" help:"Configuration." env:"X_CONFIG" default:"/etc/x.yaml" placeholder:"FILE"`
	Help   struct {
		Command []string `arg:"" optional:"" help:"The command."`
	} `cmd:"" help:"Print help."`
	Show struct {
		File string `arg:"" optional:"" help:"A file."`
		Type string `help:"Kind of it." enum:"small,large" default:"small"`
		Fast bool   `help:"Do not look. \\ stays."`
		From string `help:"From when on." placeholder:"TIME"`
	} `cmd:"" help:".Show it."`
	Queue struct {
		List struct{} `cmd:"" help:"List it."`
		Drop struct {
			All bool `help:"All of it."`
		} `cmd:"" help:"Drop it."`
	} `cmd:"" help:"The queue."`
	Secret struct{} `cmd:"" hidden:"" help:"Not for people."`
}

func model(t *testing.T) *kong.Node {
	t.Helper()
	var c commands
	parser, err := kong.New(&c, kong.Name("x"), kong.Description("The thing: does it.\n\nExit codes: 0 done."))
	require.NoError(t, err)
	return parser.Model.Node
}

func written(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, ManPage(&b, model(t), ManFacts{Version: "1.2.0",
		Date: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		Exit: []ManRow{{"0", "Done."}}, Env: []ManRow{{"X_OTHER", "A file."}},
		Files: []ManRow{{"/etc/x.yaml", "Read."}},
		Shown: []ManRow{{"x show --fast", "Show it."}}, See: []string{"systemctl(1)"}}))
	return b.String()
}

func TestPageSaysEverything(t *testing.T) {
	got := written(t)
	for _, want := range []string{
		".TH X 1 \"2026-11-21\" \"x 1.2.0\"\n", ".SH NAME\nx \\- does it\n", "Exit codes: 0 done.",
		".SS show [<file>]\n\\&.Show it.\n",
		".SS queue list\n", ".SS queue drop\n", "\\fB\\-\\-type\\fR=\\fITYPE\\fR\nKind of it. Default: small.\n",
		"\\e stays",
		"\\fB\\-c\\fR, \\fB\\-\\-config\\fR=\\fIFILE\\fR\nConfiguration. Environment: $X_CONFIG. Default: " +
			"/etc/x.yaml.\n",
		".SH FILES\n.TP\n.I /etc/x.yaml\nRead.\n", ".SH EXIT STATUS\n.TP\n.B 0\nDone.\n", "systemctl(1)",
		".SH ENVIRONMENT\n.TP\n.B X_CONFIG\nStands for \\-\\-config.\n.TP\n.B X_OTHER\nA file.\n",
		".SH EXAMPLES\n.PP\nShow it.\n.PP\n.RS 4\n.EX\nx show \\-\\-fast\n.EE\n",
	} {
		require.Contains(t, got, want)
	}
	require.NotContains(t, strings.ToLower(got), "secret")
}

// man itself has nothing to say against the page.
func TestManReadsThePage(t *testing.T) {
	man, err := exec.LookPath("man")
	if err != nil {
		t.Skip("man is not installed: apt install man-db (scripts/deps does)")
	}
	file := filepath.Join(t.TempDir(), "x.1")
	require.NoError(t, os.WriteFile(file, []byte(written(t)), 0o600))
	cmd := exec.CommandContext(t.Context(), man, "--warnings", "-l", file)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "MANWIDTH=100")
	var warnings bytes.Buffer
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	require.NoError(t, err, "%s", warnings.String())
	require.Empty(t, warnings.String())
	require.Contains(t, string(out), "--type=TYPE")
}

func TestBashCompletes(t *testing.T) {
	var script bytes.Buffer
	require.NoError(t, bash(&script, model(t)))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "small-file"), nil, 0o600))
	for line, want := range map[string]string{
		"x ":                   "help show queue --config --help",
		"x help q":             "queue",
		"x help queue ":        "list drop --config --help",
		"x queue list ":        "--config --help",
		"x show --from ":       "",
		"x show --config sm":   "small-file",
		"x q":                  "queue",
		"x queue ":             "list drop --config --help",
		"x queue d":            "drop",
		"x queue drop --a":     "--all",
		"x show --type ":       "small large",
		"x show --type l":      "large",
		"x show sm":            "small-file",
		"x show --fast small":  "small-file",
		"x --config queue":     "",
		"x --config f queu":    "queue",
		"x se":                 "",
		"x show --config queu": "",
	} {
		t.Run(line, func(t *testing.T) {
			words := strings.Split(line, " ")
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String()+`
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _x; echo "${COMPREPLY[*]}"`, "bash")
			cmd.Args = append(cmd.Args, words...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Equal(t, want, strings.TrimSpace(string(out)))
		})
	}
}

// The completions of zsh and fish offer what that of bash does, by the shells themselves.
func TestZshAndFishComplete(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "small-file"), nil, 0o600))
	cases := map[string]string{
		"x q":                "queue",
		"x queue ":           "drop list",
		"x queue d":          "drop",
		"x queue drop --a":   "--all",
		"x show --type l":    "large",
		"x show sm":          "small-file",
		"x se":               "",
		"x help q":           "queue",
		"x help queue ":      "drop list",
		"x queue list ":      "",
		"x show --from sm":   "",
		"x show --config sm": "small-file",
	}
	shells := map[string]func(script, line string) *exec.Cmd{
		"fish": func(script, line string) *exec.Cmd {
			return exec.CommandContext(t.Context(), "fish", "--no-config", "-c",
				"source "+script+`; complete -C "$argv[1]" | string replace -r '\t.*' ''; true`, line)
		},
		// What zsh adds to its list is printed; the rest of its completion needs a terminal.
		"zsh": func(script, line string) *exec.Cmd {
			return exec.CommandContext(t.Context(), "zsh", "-f", "-c", `
compadd() { shift; print -rl -- "$@" }
_describe() { local list=(${(P)4}) each; for each in $list; do print -r -- ${each%%:*}; done }
_files() { print -rl -- *(N) }
source $1; words=(${(s: :)2}); [[ $2 == *' ' ]] && words+=('') ; CURRENT=$#words
_x | grep "^${words[CURRENT]}" || true`, "zsh", script, line)
		},
	}
	for shell, command := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed: scripts/deps does", shell)
			}
			var script bytes.Buffer
			require.NoError(t, completion(&script, shell, model(t)))
			file := filepath.Join(t.TempDir(), "script")
			require.NoError(t, os.WriteFile(file, script.Bytes(), 0o600))
			for line, want := range cases {
				cmd := command(file, line)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s", out)
				got := strings.Fields(string(out))
				slices.Sort(got)
				require.Equal(t, want, strings.Join(got, " "), "%q", line)
			}
		})
	}
	require.ErrorContains(t, completion(io.Discard, "csh", model(t)), "bash, zsh or fish")
}
