//go:build linux

package rawfd

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func pipe(t *testing.T) (r, w *os.File) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

func noise(n int) []byte {
	b, r := make([]byte, n), rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// All that is written is read, in order, though neither side is ever ready for all of it.
func TestWhatIsWrittenIsRead(t *testing.T) {
	pipeR, pipeW := pipe(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	dialled, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	accepted, err := l.Accept()
	require.NoError(t, err)
	for name, ends := range map[string][2]io.ReadWriteCloser{"pipe": {pipeR, pipeW}, "TCP": {dialled, accepted}} {
		t.Run(name, func(t *testing.T) {
			in, out := Reader(ends[0]), Writer(ends[1])
			require.IsType(t, &descriptor{}, in)
			require.IsType(t, &descriptor{}, out)
			want := noise(3 << 20)
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() {
				n, err := out.Write(want)
				if err != nil || n != len(want) {
					t.Errorf("%d bytes were written: %v", n, err)
				}
				_ = ends[1].Close()
			})
			var got []byte
			for r, b := rand.New(rand.NewPCG(3, 4)), make([]byte, 1<<17); ; {
				n, err := in.Read(b[:1+r.IntN(len(b))])
				got = append(got, b[:n]...)
				if err != nil {
					require.Equal(t, io.EOF, err)
					require.Zero(t, n)
					break
				}
			}
			require.True(t, bytes.Equal(want, got))
			_ = ends[0].Close()
		})
	}
}

// A deadline ends a wait, and what was written until then is known: it can be gone on with.
func TestDeadlines(t *testing.T) {
	r, w := pipe(t)
	in, out := Reader(r), Writer(w)
	require.NoError(t, r.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
	_, err := in.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)

	want := noise(1 << 20)
	require.NoError(t, w.SetWriteDeadline(time.Now().Add(10*time.Millisecond)))
	n, err := out.Write(want)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Positive(t, n)
	require.Less(t, n, len(want))
	require.NoError(t, w.SetWriteDeadline(time.Time{}))
	require.NoError(t, r.SetReadDeadline(time.Time{}))
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if _, err := out.Write(want[n:]); err != nil {
			t.Error(err)
		}
		_ = w.Close()
	})
	got, err := io.ReadAll(in)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
}

func TestEnds(t *testing.T) {
	r, w := pipe(t)
	in, out := Reader(r), Writer(w)
	n, err := in.Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, r.Close())
	_, err = out.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
	_, err = in.Read(make([]byte, 1))
	require.ErrorContains(t, err, "closed")
}

// A call on a descriptor that blocks would hold up everything: such ones are left as they are.
func TestWhatBlocksIsLeftAlone(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	require.Same(t, f, Reader(f))
	require.Same(t, f, Writer(f))
	r, _ := pipe(t)
	require.NoError(t, syscall.SetNonblock(int(r.Fd()), false)) // Fd does so, too
	require.Same(t, r, Reader(r))
	b := &bytes.Buffer{}
	require.Same(t, b, Reader(b))
}
