package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity/identitytest"
)

const password = "hunter2hunter2"

// terminal is a pseudo-terminal with a program on it, and somebody who types.
type terminal struct {
	t    *testing.T
	ours *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex // guards seen
	seen bytes.Buffer
	read int // how much of it was expected already
	done chan struct{}
}

// onTerminal starts a program on a terminal of its own (pts(4)).
func onTerminal(t *testing.T, name string, args ...string) *terminal {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	x := &terminal{t: t, ours: ours, cmd: exec.Command(filepath.Join(dir, name), args...), done: make(chan struct{})}
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = theirs, theirs, theirs
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, x.cmd.Start())
	require.NoError(t, theirs.Close())
	var reader sync.WaitGroup
	reader.Go(func() {
		buf := make([]byte, 1024)
		for {
			n, err := ours.Read(buf)
			x.mu.Lock()
			x.seen.Write(buf[:n])
			x.mu.Unlock()
			if err != nil {
				return // the other end is closed: EIO
			}
		}
	})
	go func() { defer close(x.done); _ = x.cmd.Wait(); reader.Wait() }()
	t.Cleanup(func() { _ = x.cmd.Process.Kill(); <-x.done; _ = ours.Close() })
	return x
}

func (x *terminal) shown() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.String()
}

// expect waits until something is shown that was not there when the last thing was typed.
func (x *terminal) expect(text string) {
	x.t.Helper()
	require.Eventually(x.t, func() bool { return strings.Contains(x.shown()[x.read:], text) }, 30*time.Second,
		10*time.Millisecond,
		"%q is not shown", text)
}

// answer waits for a question and types a line.
func (x *terminal) answer(question, line string) {
	x.t.Helper()
	x.expect(question)
	x.read = len(x.shown())
	_, err := io.WriteString(x.ours, line+"\n")
	require.NoError(x.t, err)
}

// ended waits for the end of the program and is its exit code.
func (x *terminal) ended() int {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(2 * time.Minute):
		x.t.Fatalf("it does not end: %s", x.shown())
	}
	return x.cmd.ProcessState.ExitCode()
}

// people asks the service's sign-in. It returns the session if the answer opens one.
func (s *cloud) people(t *testing.T, path, session string, in, out any) string {
	t.Helper()
	raw, err := json.Marshal(in)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.AddCookie(&http.Cookie{Name: "auth_key", Value: session})
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", path, body)
	if out != nil {
		require.NoError(t, json.Unmarshal(body, out))
	}
	for _, c := range res.Cookies() {
		if c.Name == "auth_key" {
			return c.Value
		}
	}
	return ""
}

// TestSigningInWithACode: a person types what vmsbridge login asks for, with a code that comes by
// mail; from then on the events of the running bridge flow, those too that it noted before. The
// second time the device is trusted.
func TestSigningInWithACode(t *testing.T) {
	mail := identitytest.StartSMTP(t, "starttls", "cloud", "password of the mail server")
	code := func() string {
		found := regexp.MustCompile(`your code is (\d{4})`).FindStringSubmatch(mail.Next(t).Text)
		require.NotNil(t, found)
		return found[1]
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	write("mail-password", "password of the mail server")
	letters := write("letters.yaml",
		fmt.Sprintf("mail: {server: %q, user: cloud, password_file: mail-password, from: cameras@example.org, "+
			"ca_file: %s}\n",
			mail.Address(), mail.CAFile))
	s := &cloud{data: filepath.Join(dir, "cloud"), done: make(chan struct{})}
	s.command(t, "init", "--account", "demo", "--id", "acc-1", "--email", "anna@example.org", "--password-file",
		write("password", password+"\n"), "--quiet")
	s.token = s.command(t, "token", "create", "--kind", "bridge", "--quiet")
	s.serve(t, "127.0.0.1:0", "--letters", letters)

	// Anna wants codes from now on.
	var first struct{ Token string }
	s.people(t, "/g/aaa/authenticate", "", map[string]any{"username": "anna@example.org", "password": password}, &first)
	session := s.people(t, "/g/aaa/authorize", "", map[string]any{"token": first.Token}, nil)
	s.people(t, "/g/aaa/two_factor_authenticate/update", session,
		map[string]any{"two_factor_authentication_type": "email", "password": password,
			"update_json": map[string]any{"is_two_factor_authentication_enabled": 1}}, nil)
	s.people(t, "/g/aaa/two_factor_authenticate/verify", session,
		map[string]any{"two_factor_authentication_code": code()}, nil)

	br := newSite(t, s, "  - {id: cam0, url: \"rtsp://127.0.0.1:1/none\", enabled: false}\n")
	yaml, err := os.ReadFile(br.yaml)
	require.NoError(t, err)
	require.NoError(t,
		os.WriteFile(br.yaml, bytes.Replace(yaml, []byte("token_file: bridge.token}\napi"),
			[]byte("session_file: service.session}\napi"), 1), 0o600))
	br.start(t)
	looks := s.command(t, "token", "create", "--kind", "user", "--quiet")
	direct, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(looks)})
	require.NoError(t, err)
	defer direct.Close()
	require.Eventually(t, func() bool {
		return strings.Contains(br.ask(t, http.MethodGet, "/healthz", ""), "nobody has signed in")
	}, 20*time.Second, 50*time.Millisecond)
	br.post(t, withoutID(0))

	x := onTerminal(t, "vmsbridge", "login", "--config", br.yaml)
	x.answer("Address of the user: ", "anna@example.org")
	x.answer("Password of anna@example.org: ", password)
	x.expect("a***@example.org")
	x.answer("How, email or sms? ", "sms")
	x.expect("choose the other one")
	x.answer("How, email or sms? ", "email")
	right := code()
	x.answer("Code: ", string('0'+(right[0]-'0'+1)%10)+right[1:])
	x.expect("the code is wrong")
	x.answer("Code: ", right)
	require.Zero(t, x.ended(), x.shown())
	require.Contains(t, x.shown(), "Signed in")
	require.NotContains(t, x.shown(), password, "the terminal shows no password")
	held := filepath.Join(br.dir, "service.session")
	info, err := os.Stat(held)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	raw, err := os.ReadFile(held)
	require.NoError(t, err)
	require.NotContains(t, string(raw), password)
	t.Logf("the first event after %s", s.knows(t, direct, motion(0, 0).ID, time.Minute))

	// The second time the device is known.
	x = onTerminal(t, "vmsbridge", "login", "--config", br.yaml, "--user", "anna@example.org")
	x.answer("Password of anna@example.org: ", password)
	require.Zero(t, x.ended(), x.shown())
	require.NotContains(t, x.shown(), "A code is needed")
	br.post(t, withoutID(1))
	t.Logf("the second event after %s", s.knows(t, direct, motion(0, 1).ID, time.Minute))
}

// withoutID is motion(0, n) as programs report it.
func withoutID(n int) any {
	ev := motion(0, n)
	ev.ID = ""
	return ev
}
