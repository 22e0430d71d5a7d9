package postgrestest

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Path is a way to a server that can be cut, as a network is: what is under way then arrives
// nowhere, and neither end hears that the other one has gone.
type Path struct {
	dir string
	to  *Server

	mu   sync.Mutex    // guards open
	open chan struct{} // closed while it is not cut
}

// Path is one of the test's own to a server.
func (s *Server) Path(t testing.TB) *Path {
	t.Helper()
	dir, err := os.MkdirTemp("", "vms-pg") // a socket's name is short
	require.NoError(t, err)
	p := &Path{dir: dir, to: s, open: make(chan struct{})}
	close(p.open)
	l, err := net.Listen("unix", filepath.Join(dir, socket))
	require.NoError(t, err)
	var running sync.WaitGroup
	ended := make(chan struct{})
	running.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.carry(in, ended) })
		}
	})
	t.Cleanup(func() {
		close(ended)
		_ = l.Close()
		running.Wait()
		_ = os.RemoveAll(dir)
	})
	return p
}

const socket = ".s.PGSQL.5432"

// Address is that of a database by this way.
func (p *Path) Address(database string) string {
	return "postgres:///" + database + "?user=vms&host=" + p.dir
}

// Cut has nothing arrive any more, until Mend.
func (p *Path) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Mend ends a Cut.
func (p *Path) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.open)
}

func (p *Path) passes() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// carry is one connection, until it ends at one end, or ended is closed.
func (p *Path) carry(in net.Conn, ended <-chan struct{}) {
	defer in.Close()
	select {
	case <-p.passes():
	case <-ended:
		return
	}
	out, err := net.Dial("unix", filepath.Join(p.to.dir, socket))
	if err != nil {
		return
	}
	defer out.Close()
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			defer end()
			for buf := make([]byte, 32<<10); ; {
				n, err := way[0].Read(buf)
				select {
				case <-p.passes(): // an end is not heard of either
				case <-ended:
					return
				}
				if _, failed := way[1].Write(buf[:n]); err != nil || failed != nil {
					return
				}
			}
		})
	}
	select {
	case <-over:
	case <-ended:
	}
	_, _ = in.Close(), out.Close()
	both.Wait()
}
