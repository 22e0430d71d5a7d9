package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// grammar is a program with a group of commands.
type grammar struct {
	Show struct {
		Since time.Duration `help:"Since when." default:"1h"`
	} `cmd:"" help:"Show it."`
	Queue struct {
		Drop failing `cmd:"" help:"Drop it."`
		Get  struct {
			ID string `arg:"" help:"Which."`
		} `cmd:"" help:"Get it."`
	} `cmd:"" help:"The queue."`
	Commands
}

type failing struct {
	How string `default:"error"`
}

func (f failing) Run() error {
	if f.How == "code" {
		return Exit(3, nil)
	}
	return errors.New("drop it:\n it is held")
}

func run(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = Program{Name: "tool", Description: "A tool.", Version: "1.2.0", Out: &o, Err: &e}.Run(&grammar{}, args)
	return o.String(), e.String(), code
}

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		args      []string
		code      int
		out, errs string
	}{
		"nothing":          {nil, 0, "Usage: tool <command>", ""},
		"a group":          {[]string{"queue"}, 0, "queue drop", ""},
		"help":             {[]string{"help", "queue", "drop"}, 0, "Usage: tool queue drop", ""},
		"help of nothing":  {[]string{"help", "fly"}, Usage, "", "tool: unexpected argument fly; see tool --help\n"},
		"version":          {[]string{"queue", "drop", "--version"}, 0, "tool 1.2.0\n", ""},
		"an error":         {[]string{"queue", "drop"}, Failed, "", "tool: drop it: it is held\n"},
		"a code":           {[]string{"queue", "drop", "--how", "code"}, 3, "", ""},
		"a wrong duration": {[]string{"show", "--since", "2 days"}, Usage, "", "such as 500ms, 10s, 2h or 7d"},
		"a wrong flag": {[]string{"queue", "drop", "--hwo", "x"}, Usage, "",
			"tool: unknown flag --hwo, did you mean \"--how\"?; see tool queue drop --help\n"},
		"no argument": {[]string{"queue", "get"}, Usage, "",
			"tool: missing argument: <id>; see tool queue get --help\n"},
		"a completion": {[]string{"completion", "fish"}, 0, "complete -c tool", ""},
	} {
		out, errs, code := run(tc.args...)
		require.Equal(t, tc.code, code, name)
		require.Contains(t, out, tc.out, name)
		require.Contains(t, errs, tc.errs, name)
	}
}

func TestUnknown(t *testing.T) {
	require.EqualError(t, Unknown("camera", "x", "a.yaml", []string{"a", "b"}), `a.yaml has no camera "x": there are a, b`)
	require.EqualError(t, Unknown("bridge", "x", "the service", nil), `the service has no bridge "x": there is none`)
	require.ErrorContains(t, Unknown("camera", "x", "a", make([]string, 25)), "and 5 more")
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	row := func(n int) []string { return []string{fmt.Sprint(n), "x"} }
	require.NoError(t, List(&out, false, "ID, NAME", []int{1, 20}, row))
	require.Equal(t, "ID  NAME\n1   x\n20  x\n", out.String())
	out.Reset()
	require.NoError(t, List(&out, true, "ID, NAME", []int{1, 20}, row))
	require.Equal(t, "1\n20\n", out.String())
}

// Progress is drawn on a terminal, and nothing anywhere else.
func TestProgress(t *testing.T) {
	var pipe bytes.Buffer
	p := NewProgress(&pipe)
	p.Now("reading %d", 1)
	_, err := p.Writer(io.Discard, "written").Write([]byte("abc"))
	require.NoError(t, err)
	p.End()
	require.Empty(t, pipe.String())

	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer func() { _ = master.Close() }()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer func() { _ = slave.Close() }()
	require.True(t, Terminal(slave))
	p = NewProgress(slave)
	p.End() // nothing was drawn, so nothing is taken away
	p.Now("reading %d", 1)
	p.Say("reading %d", 2) // too soon
	p.End()
	want := "\r\x1b[Kreading 1\r\x1b[K"
	got := make([]byte, len(want))
	_, err = io.ReadFull(master, got)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}
