package codec

import (
	"bytes"
	"context"
	"image/jpeg"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/codec/testclip"
)

// Access units that make a decoder process fail, put in by TestMain.
var (
	crashUnit = []byte("crash")
	hangUnit  = []byte("hang")
)

func TestMain(m *testing.M) {
	runWorker(func(au []byte) {
		switch {
		case bytes.Equal(au, crashUnit):
			_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
			select {}
		case bytes.Equal(au, hangUnit):
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
	})
	goleak.VerifyTestMain(m)
}

func newPool(t testing.TB, o Options) *Pool {
	p := NewPool(o)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestDecodeAndStill(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		for _, f := range []Format{H264, H265, MJPEG} {
			t.Run(isolation+"/"+string(f), func(t *testing.T) {
				clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 640, Height: 360, Frames: 12, BFrames: 1})
				p := newPool(t, Options{Isolation: isolation})
				d := p.Open("gate", f, 57_600)
				defer d.Close()
				var got []Picture
				for i, au := range clip.Units {
					n := i
					if f != MJPEG {
						n = clip.Order(i)
					}
					pictures, err := d.Decode(t.Context(), au, int64(1000+n))
					require.NoError(t, err)
					got = append(got, pictures...)
				}
				rest, err := d.Flush(t.Context())
				require.NoError(t, err)
				got = append(got, rest...)
				require.Len(t, got, 12)
				for i, p := range got {
					require.EqualValues(t, 1000+i, p.PTS)
					require.Equal(t, []int{640, 360, 320, 180}, []int{p.Width, p.Height, p.LumaWidth, p.LumaHeight})
					want := int(testclip.Block(i))
					if f != MJPEG {
						want = (want - 16) * 255 / 219
					}
					require.InDelta(t, want, int(p.Luma[90*320+160]), 4, "picture %d", i)
				}
				still, err := d.Still(context.Background(), got[11].PTS, 320, 80)
				require.NoError(t, err)
				m, err := jpeg.Decode(bytes.NewReader(still))
				require.NoError(t, err)
				require.Equal(t, 320, m.Bounds().Dx())
				_, err = d.Still(t.Context(), got[0].PTS, 320, 80)
				require.ErrorIs(t, err, ErrGone)
			})
		}
	}
}
