//go:build cgo && (amd64 || arm64)

package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/testclip"
)

// Pictures come by the memory that a process shares, not through its pipe; the process has no way
// to make that memory smaller.
func TestPicturesAreShared(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 640, Height: 360, Frames: 12})
	d := newPool(t, Options{}).Open("a", H264, 57_600)
	defer d.Close()
	for i, au := range clip.Units {
		_, err := d.Decode(t.Context(), au, int64(i))
		require.NoError(t, err)
	}
	require.Greater(t, cap(d.reply.placed), 57_600)
	require.LessOrEqual(t, cap(d.reply.piped), leastRoom, "no room is kept for the first one, which came by the pipe")
	f, shared, err := shareMemory()
	require.NoError(t, err)
	defer func() { require.NoError(t, unshare(shared)) }()
	defer f.Close()
	require.ErrorIs(t, unix.Ftruncate(int(f.Fd()), 0), unix.EPERM)
}
