// Package postgrestest is for tests only: a real PostgreSQL of the system's package in a folder of
// its own, reached over a socket in it. It waits for no disk, unless Durable is asked for.
//
//	func TestMain(m *testing.M) { postgrestest.Main(m) }
//
//	s := postgrestest.Shared(t)
//	address := s.Database(t)
package postgrestest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Server is a PostgreSQL.
type Server struct {
	dir    string // of data and socket
	bin    string
	who    *syscall.Credential // nil: this process's user
	flags  []string
	cmd    *exec.Cmd
	ended  chan struct{}
	output bytes.Buffer
	made   atomic.Int64
}

// Durable has the server wait for the disk, as it does outside tests.
const Durable = "fsync=on"

var (
	begun  atomic.Pointer[Server] // the shared one, once it was asked for
	shared = sync.OnceValues(func() (*Server, error) {
		s, err := start()
		if err == nil {
			begun.Store(s)
		}
		return s, err
	})
)

// Main runs tests and stops the server that they shared.
func Main(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// Stop stops the shared server, if a test asked for it.
func Stop() {
	if s := begun.Load(); s != nil {
		s.stop()
	}
}

// Shared is one server for all tests of a package, whose TestMain calls Main or Stop.
func Shared(t testing.TB) *Server {
	t.Helper()
	need(t)
	s, err := shared()
	require.NoError(t, err)
	return s
}

// Start is a server of the test's own. Settings are PostgreSQL's.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	need(t)
	s, err := start(settings...)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// need skips a test where there is no PostgreSQL, but not where everything has to be there.
func need(t testing.TB) {
	t.Helper()
	if binaries() != "" {
		return
	}
	const missing = "PostgreSQL's server is not installed: run scripts/deps"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

// binaries is the folder of the newest server, "" if there is none.
func binaries() string {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(list) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			return filepath.Dir(path)
		}
		return ""
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(list, func(a, b string) int { return version(a) - version(b) }))
}

func start(settings ...string) (*Server, error) {
	s, err := prepare(settings...)
	if err != nil {
		return nil, err
	}
	if err := s.run("initdb", "--no-sync", "--username=vms", "--auth=trust", "--encoding=UTF8", "--locale=C",
		"-D", s.data()); err != nil {
		return nil, err
	}
	const rules = "local all locked scram-sha-256\nlocal all,replication all trust\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return nil, err
	}
	return s, s.up()
}

// prepare makes the folder of a server.
func prepare(settings ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "vms-pg")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: binaries(), flags: append([]string{"fsync=off"}, settings...)}
	if os.Getuid() == 0 { // it refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			if u, err = user.Lookup("nobody"); err != nil {
				return nil, err
			}
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// run runs one of PostgreSQL's programs to its end.
func (s *Server) run(name string, args ...string) error {
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who}
	return cmd
}

// up starts the server and waits until it answers. What an earlier one left behind may take a
// moment to go.
func (s *Server) up() error {
	deadline := time.Now().Add(time.Minute)
	for {
		args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=60"}
		for _, f := range s.flags {
			args = append(args, "-c", f)
		}
		s.output.Reset()
		cmd, ended := s.command("postgres", args...), make(chan struct{})
		cmd.Stdout, cmd.Stderr = &s.output, &s.output
		cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT // it goes with the tests
		if err := cmd.Start(); err != nil {
			return err
		}
		go func() { defer close(ended); _ = cmd.Wait() }()
		s.cmd, s.ended = cmd, ended
		for time.Now().Before(deadline) {
			if s.answers() {
				return nil
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Millisecond):
				continue
			}
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("PostgreSQL does not start: %s", s.output.String())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Address("postgres"))
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}

// Address is that of a database, for the user who may do all.
func (s *Server) Address(database string) string {
	return "postgres:///" + database + "?user=vms&host=" + s.dir
}

// Database makes a database of the test's own and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.made.Add(1))
	s.Exec(t, "postgres", "create database "+name)
	return s.Address(name)
}

// Exec runs a command in a database.
func (s *Server) Exec(t testing.TB, database, sql string) {
	t.Helper()
	conn := s.connect(t, database)
	defer s.disconnect(t, conn)
	_, err := conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func (s *Server) connect(t testing.TB, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Address(database))
	require.NoError(t, err)
	return conn
}

func (s *Server) disconnect(t testing.TB, conn *pgx.Conn) {
	_ = conn.Close(context.WithoutCancel(t.Context())) // the server may have gone
}

// Name is the name of the database at an address.
func Name(address string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(address, "postgres:///"), "?")
	return name
}

// Kill ends the server as a crash does.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Again starts it after Kill.
func (s *Server) Again(t testing.TB) {
	t.Helper()
	require.NoError(t, s.up())
}

func (s *Server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // at once; nothing of it is wanted again
		<-s.ended
	}
	_ = os.RemoveAll(s.dir)
}
