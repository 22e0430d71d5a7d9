package postgrestest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Standby starts a server that follows s under a name, as synchronous_standby_names calls it. It
// reads only, until Promote.
func (s *Server) Standby(t testing.TB, name string, settings ...string) *Server {
	t.Helper()
	b, err := prepare(settings...)
	require.NoError(t, err)
	t.Cleanup(b.stop)
	b.Rejoin(t, s, name)
	return b
}

// Rejoin makes a server that was killed a standby of another one, from what that has.
func (s *Server) Rejoin(t testing.TB, primary *Server, name string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(s.data()))
	require.NoError(t, s.run("pg_basebackup", "--no-sync", "--checkpoint=fast", "-R", "-D", s.data(), "-d",
		primary.conninfo(name)))
	require.NoError(t, s.up())
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

// Detach has a standby receive nothing any more, until Follow: what the primary does from then on,
// it does not have.
func (s *Server) Detach(t testing.TB) {
	t.Helper()
	s.Exec(t, "postgres", "alter system set primary_conninfo = ''")
	s.Exec(t, "postgres", "select pg_reload_conf()")
	require.Eventually(t, func() bool {
		return s.Value(t, "select count(*)::text from pg_stat_wal_receiver") == "0"
	}, time.Minute, 10*time.Millisecond)
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
