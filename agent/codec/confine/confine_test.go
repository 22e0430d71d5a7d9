package confine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
)

// What the bridge says of the confinement is what the kernel says of the process.
func TestReportIsTrue(t *testing.T) {
	held := confinement(t)
	t.Logf("in force: %s", held)
	if strings.Contains(held.String(), "seccomp (") {
		t.Skip("this kernel has no seccomp")
	}
	require.Contains(t, held.InForce, "no_new_privs")
	pool := codec.NewPool(codec.Options{})
	defer pool.Close()
	dec := pool.Open("gate", codec.MJPEG, 0)
	_, err := dec.Decode(context.Background(), []byte("no JPEG"), 1)
	require.Error(t, err)
	children, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	var checked int
	for _, file := range children {
		list, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, pid := range strings.Fields(string(list)) {
			threads, err := filepath.Glob("/proc/" + pid + "/task/*/status")
			require.NoError(t, err)
			for _, thread := range threads {
				text, err := os.ReadFile(thread)
				require.NoError(t, err)
				require.Regexp(t, `(?m)^NoNewPrivs:\s1$`, string(text))
				require.Regexp(t, `(?m)^Seccomp:\s2$`, string(text))
				require.Regexp(t, `(?m)^Seccomp_filters:\s2$`, string(text))
				checked++
			}
			limits, err := os.ReadFile("/proc/" + pid + "/limits")
			require.NoError(t, err)
			require.Regexp(t, `Max open files +0 +0`, string(limits))
			require.Regexp(t, `Max address space +\d+ +\d+`, string(limits))
			require.Regexp(t, `Max processes +\d+ +\d+`, string(limits))
		}
	}
	require.Greater(t, checked, 1)
}

// The memory of a program that starts decoder processes is closed to others of the same user; what
// it has to do itself goes on. As root, the test becomes somebody else for it, since nothing is
// closed to root.
func TestClosedMemory(t *testing.T) {
	dir, err := os.MkdirTemp("", "confine") // t.TempDir is for this user only
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "bridge")
	self, err := os.Executable()
	require.NoError(t, err)
	content, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, content, 0o755))

	const nobody = 65534
	as := func(cmd *exec.Cmd) *exec.Cmd {
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		return cmd
	}
	cmd := as(exec.CommandContext(t.Context(), program))
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "CONFINE_TEST_BRIDGE=1", "CAMERA_PASSWORD=very-secret")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	if err = cmd.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("this root may not become somebody else")
	}
	require.NoError(t, err)
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "JPEG", "the decoder was asked: %s", line)
	for _, file := range []string{"environ", "mem", "maps", "fd"} {
		read, err := as(exec.CommandContext(t.Context(), "ls", "-lR",
			fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid))).CombinedOutput()
		if file != "fd" {
			read, err = as(exec.CommandContext(t.Context(), "head", "-c", "4096",
				fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, file))).CombinedOutput()
		}
		require.Error(t, err, "%s: %s", file, read)
		require.Contains(t, string(read), "ermission denied")
		require.NotContains(t, string(read), "very-secret")
	}
	_, _ = io.WriteString(in, "\n")
}

// The decoders need no memory that is both written and run: the unit forbids it.
func TestNoWritableCode(t *testing.T) {
	run := func(more ...string) string {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
		cmd.Env = append(append(os.Environ(), "CONFINE_TEST_BRIDGE=1"), more...)
		out, err := cmd.Output()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	without, with := run(), run("CONFINE_TEST_MDWE=1")
	denied, rest, _ := strings.Cut(with, "\n")
	if denied != "denied: <nil>" {
		t.Skipf("this kernel cannot forbid it by itself: %s", denied)
	}
	require.Equal(t, without, rest)
	require.Contains(t, rest, "jpeg: true")
}
