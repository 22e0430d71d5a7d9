package postgrestest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Standby starts a server that follows s under a name, as synchronous_standby_names calls it. It
// reads only, until Promote.
func (s *Server) Standby(t testing.TB, name string, settings ...string) *Server {
	t.Helper()
	b, err := prepare(settings...)
	require.NoError(t, err)
	t.Cleanup(b.stop)
	require.NoError(t, b.run("pg_basebackup", "--no-sync", "--checkpoint=fast", "-R", "-D", b.data(), "-d", s.conninfo(name)))
	require.NoError(t, b.up())
	return b
}

// conninfo is how a standby of that name reaches s.
func (s *Server) conninfo(name string) string {
	return fmt.Sprintf("host=%s user=vms application_name=%s", s.dir, name)
}

// Follow has a standby follow another server, as after that was promoted.
func (s *Server) Follow(t testing.TB, primary *Server, name string) {
	t.Helper()
	s.Exec(t, "postgres", "alter system set primary_conninfo = '"+primary.conninfo(name)+"'")
	s.Exec(t, "postgres", "select pg_reload_conf()")
}

// Promote makes a primary of a standby, and waits until it is one.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	require.Equal(t, "true", s.Value(t, "select pg_promote()::text"))
}

// Value is what a query of one value says, as text.
func (s *Server) Value(t testing.TB, sql string) string {
	t.Helper()
	conn := s.connect(t, "postgres")
	defer s.disconnect(t, conn)
	var v string
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&v))
	return v
}

// FreezeReceiver stops what a standby receives by, without a word to the primary, until thaw is
// called; then the standby goes on.
func (s *Server) FreezeReceiver(t testing.TB) (thaw func()) {
	t.Helper()
	pid, err := strconv.Atoi(s.Value(t, "select pid::text from pg_stat_wal_receiver"))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	return func() { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have ended
}

// Hosts is the address of a database that any of several servers may have.
func Hosts(database string, servers ...*Server) string {
	var dirs []string
	for _, s := range servers {
		dirs = append(dirs, s.dir)
	}
	return "postgres:///" + database + "?user=vms&host=" + strings.Join(dirs, ",")
}

// SmallDisk is a folder of the server's on a disk of so many bytes, for a tablespace; more makes it
// larger. It skips the test where nobody may mount one.
func (s *Server) SmallDisk(t testing.TB, bytes int) (folder string, more func(bytes int)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "vms-disk")
	require.NoError(t, err)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", bytes)); err != nil {
		_ = os.Remove(dir)
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH); _ = os.Remove(dir) })
	if s.who != nil {
		require.NoError(t, os.Chown(dir, int(s.who.Uid), int(s.who.Gid)))
	}
	return dir, func(bytes int) {
		require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", bytes)))
	}
}
