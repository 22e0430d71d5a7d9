package codec

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/testclip"
	"vmsbridge/agent/codec/worker"
	"vmsbridge/scripts/harness"
)

// Access units that make a decoder process fail; TestMain sees to it.
var (
	crashUnit = []byte("crash")
	hangUnit  = []byte("hang")
	noiseUnit = []byte("noise")
	junkUnit  = []byte("junk")
	burnUnit  = []byte("burn")
	spentUnit = []byte("spent")
)

// burnTime is what a burnUnit takes.
const burnTime = 100 * time.Millisecond

func TestMain(m *testing.M) {
	runWorker(func(au []byte) {
		switch {
		case bytes.Equal(au, crashUnit):
			_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
			time.Sleep(time.Hour) // the signal may reach another thread first
		case bytes.Equal(au, hangUnit):
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			time.Sleep(time.Hour)
		case bytes.Equal(au, burnUnit):
			for began := time.Now(); time.Since(began) < burnTime; {
			}
		case bytes.Equal(au, spentUnit): // it ends when it has used more of a processor than one call may
			for t := (unix.Timespec{}); t.Nano() < int64(2*longCall); {
				_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
			}
			os.Exit(1)
		case bytes.Equal(au, junkUnit):
			_, _ = os.NewFile(4, "replies").Write(bytes.Repeat([]byte{0xee}, 64))
		case bytes.Equal(au, noiseUnit):
			_, _ = os.Stderr.WriteString(strings.Repeat("Corrupt JPEG data: premature end of data segment\n", 20_000))
		}
	})
	orphanParent()
	goleak.VerifyTestMain(m)
}

func newPool(t testing.TB, o Options) *Pool {
	p := NewPool(o)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// place is the presentation place of access unit i.
func place(f Format, clip testclip.Clip, i int) int64 {
	if f == MJPEG {
		return int64(i)
	}
	return int64(clip.Order(i))
}

func TestDecodeAndStill(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		for _, f := range []Format{H264, H265, MJPEG} {
			t.Run(isolation+"/"+string(f), func(t *testing.T) {
				clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 640, Height: 360, Frames: 12,
					BFrames: 1})
				r := prometheus.NewRegistry()
				p := newPool(t, Options{Isolation: isolation, Registerer: r})
				d := p.Open("gate", f, 57_600)
				defer d.Close()
				var got []Picture
				take := func(pictures []Picture, err error) {
					require.NoError(t, err)
					for _, p := range pictures {
						p.Luma = bytes.Clone(p.Luma) // the next call may overwrite it
						got = append(got, p)
					}
				}
				for i, au := range clip.Units {
					take(d.Decode(t.Context(), au, 1000+place(f, clip, i)))
				}
				take(d.Flush(t.Context()))
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
				luma := room{bytes.Clone(d.reply.piped[:cap(d.reply.piped)]),
					bytes.Clone(d.reply.placed[:cap(d.reply.placed)])}
				still, err := d.Still(t.Context(), got[11].PTS, 320, 80)
				require.NoError(t, err)
				require.Equal(t, luma.piped, d.reply.piped[:cap(d.reply.piped)],
					"a still leaves the last pictures as they are")
				require.Equal(t, luma.placed, d.reply.placed[:cap(d.reply.placed)])
				m, err := jpeg.Decode(bytes.NewReader(still))
				require.NoError(t, err)
				require.Equal(t, 320, m.Bounds().Dx())
				w, h, err := CheckJPEG(still)
				require.NoError(t, err)
				require.Equal(t, []int{320, 180}, []int{w, h})
				_, err = d.Still(t.Context(), got[0].PTS, 320, 80)
				require.ErrorIs(t, err, ErrGone)
				require.Positive(t, testutil.ToFloat64(p.metrics.pictures.WithLabelValues(string(f))))
				count, err := testutil.GatherAndCount(r, "vmsbridge_codec_decode_seconds")
				require.NoError(t, err)
				require.Equal(t, 1, count)
			})
		}
	}
}

// Pictures before the time that is asked for come without luma, the others as if nothing had been
// asked for; a still of either is made all the same.
func TestLumaFrom(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		for _, f := range []Format{H264, H265, MJPEG} {
			t.Run(isolation+"/"+string(f), func(t *testing.T) {
				clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 320, Height: 180, Frames: 12,
					BFrames: 1})
				p := newPool(t, Options{Isolation: isolation})
				whole, some := p.Open("whole", f, 14_400), p.Open("some", f, 14_400)
				defer whole.Close()
				defer some.Close()
				with := map[int64]Picture{}
				for i, au := range clip.Units {
					pictures, err := whole.Decode(t.Context(), au, place(f, clip, i))
					require.NoError(t, err)
					for _, pic := range pictures {
						require.Len(t, pic.Luma, 160*90)
						pic.Luma = bytes.Clone(pic.Luma)
						with[pic.PTS] = pic
					}
				}
				var seen, without int
				next := int64(3) // and then every third
				for i, au := range clip.Units {
					some.LumaFrom(next)
					pictures, err := some.Decode(t.Context(), au, place(f, clip, i))
					require.NoError(t, err)
					for _, pic := range pictures {
						seen++
						want := with[pic.PTS]
						if pic.PTS < next {
							without++
							want = Picture{PTS: want.PTS, Width: 320, Height: 180}
						}
						require.Equal(t, want, pic)
						_, err := some.Still(t.Context(), pic.PTS, 0, 80)
						require.NoError(t, err)
					}
					for len(pictures) > 0 && next <= pictures[len(pictures)-1].PTS {
						next += 3
					}
				}
				require.Equal(t, len(with), seen)
				require.GreaterOrEqual(t, without, seen/2)
				require.Less(t, without, seen)
			})
		}
	}
}

// Cameras at once, in few processes: each gets its own pictures.
func TestManyCameras(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		t.Run(isolation, func(t *testing.T) {
			p := newPool(t, Options{Isolation: isolation, PerProcess: 3})
			clips := map[Format]testclip.Clip{}
			formats := []Format{H264, H265, MJPEG}
			for _, f := range formats {
				clips[f] = testclip.Make(t, testclip.Spec{Codec: string(f), Width: 160, Height: 96, Frames: 20,
					Keyint: 10})
			}
			var wg sync.WaitGroup
			for camera := range 7 {
				wg.Go(func() {
					f := formats[camera%3]
					d := p.Open(string(rune('a'+camera)), f, 57_600)
					defer d.Close()
					n := 0
					for round := range 3 {
						for i, au := range clips[f].Units {
							pts := int64(camera*1000 + round*100 + i)
							pictures, err := d.Decode(t.Context(), au, pts)
							if err != nil {
								t.Errorf("camera %d: %v", camera, err)
								return
							}
							for _, q := range pictures {
								want := int(testclip.Block(int(q.PTS) % 100))
								if f != MJPEG {
									want = (want - 16) * 255 / 219
								}
								if got := int(q.Luma[48*160+80]); q.PTS/1000 != int64(camera) || got < want-4 ||
									got > want+4 {
									t.Errorf("camera %d: picture %d has %d, not %d", camera, q.PTS, got, want)
								}
								n++
							}
						}
						rest, err := d.Flush(t.Context())
						if err != nil {
							t.Errorf("camera %d: %v", camera, err)
						}
						n += len(rest)
					}
					if n != 60 {
						t.Errorf("camera %d: %d pictures of 60", camera, n)
					}
				})
			}
			wg.Wait()
			if isolation == OwnProcess {
				require.EqualValues(t, 3, testutil.ToFloat64(p.metrics.started), "7 cameras, 3 a process")
			}
		})
	}
}

// Whatever is fed, it ends in an error that is about this access unit, and the next good one is
// decoded.
func TestHostileInput(t *testing.T) {
	jpegClip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 160, Height: 96, Frames: 1})
	giant := bytes.Clone(jpegClip.Units[0])
	sof := bytes.Index(giant, []byte{0xff, 0xc0})
	copy(giant[sof+5:], []byte{0xff, 0xff, 0xff, 0xff})
	for _, isolation := range []string{OwnProcess, InProcess} {
		// with the race detector four million units take seconds
		p := newPool(t, Options{Isolation: isolation, CallTimeout: harness.Patience})
		for _, f := range []Format{H264, H265, MJPEG} {
			clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 160, Height: 96, Frames: 3})
			d := p.Open("gate", f, 57_600)
			_, err := d.Decode(t.Context(), nil, 1)
			require.ErrorContains(t, err, "0 bytes")
			_, err = d.Decode(t.Context(), make([]byte, 16<<20+1), 1)
			require.ErrorContains(t, err, "16777217 bytes")
			for name, bad := range map[string][]byte{
				"zeros": make([]byte, 4096), "text": []byte("GET / HTTP/1.1\r\n\r\n"), "giant JPEG": giant,
				"the largest":        append([]byte{0, 0, 1}, bytes.Repeat([]byte{0x65}, 16<<20-3)...),
				"four million units": bytes.Repeat([]byte{0, 0, 1, 0x65}, 4<<20),
				"4096 units":         bytes.Repeat([]byte{0, 0, 1, 0x65}, 4096), "start code only": {0, 0, 0, 1},
				"one byte": {0xff},
				"cut":      clip.Units[0][:len(clip.Units[0])*2/3],
			} {
				pictures, err := d.Decode(t.Context(), bad, 1)
				require.NotErrorIs(t, err, ErrLost, "%s as %s", name, f)
				if f == MJPEG {
					require.Error(t, err, "%s as %s", name, f)
					require.Empty(t, pictures)
				}
			}
			_, err = d.Flush(t.Context())
			require.NoError(t, err)
			n := 0
			for i, au := range clip.Units {
				pictures, err := d.Decode(t.Context(), au, int64(i))
				require.NoError(t, err)
				n += len(pictures)
			}
			rest, err := d.Flush(t.Context())
			require.NoError(t, err)
			require.Equal(t, 3, n+len(rest))
			d.Close()
		}
		if isolation == OwnProcess {
			require.EqualValues(t, 0, sum(p.metrics.deaths), "no process was lost")
		}
	}
}

func sum(v *prometheus.CounterVec) (total float64) {
	for _, reason := range []string{reasonCrash, reasonHang, reasonKilled, reasonProtocol, reasonStart} {
		total += testutil.ToFloat64(v.WithLabelValues(reason))
	}
	return total
}

func TestUnknownFormat(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		p := newPool(t, Options{Isolation: isolation})
		d := p.Open("gate", "av1", 0)
		_, err := d.Decode(t.Context(), []byte{1}, 1)
		var u *UnsupportedError
		require.ErrorAs(t, err, &u)
		require.Equal(t, Format("av1"), u.Format)
		require.NotEmpty(t, u.Hint)
		_, err = d.Still(t.Context(), 1, 0, 80)
		require.Error(t, err)
	}
}

func TestCapabilities(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		p := newPool(t, Options{Isolation: isolation})
		c, err := p.Capabilities(t.Context())
		require.NoError(t, err)
		require.True(t, c.JPEG.OK)
		require.NotEmpty(t, c.JPEG.Library)
		if c.H264.OK {
			require.NotEmpty(t, c.H264.Version)
		} else {
			require.NotEmpty(t, c.H264.Hint)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if isolation == OwnProcess {
			_, err = p.Capabilities(ctx)
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, p.Close())
		_, err = p.Capabilities(t.Context())
		if isolation == OwnProcess {
			require.ErrorIs(t, err, ErrClosed)
		}
	}
}

func TestClosed(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	for _, isolation := range []string{OwnProcess, InProcess} {
		p := newPool(t, Options{Isolation: isolation})
		d, other := p.Open("gate", MJPEG, 100), p.Open("gate", MJPEG, 100)
		for _, d := range []*Decoder{d, other} {
			_, err := d.Decode(t.Context(), clip.Units[0], 1)
			require.NoError(t, err)
		}
		d.Close()
		d.Close()
		_, err := d.Decode(t.Context(), clip.Units[0], 1)
		require.ErrorIs(t, err, ErrClosed)
		_, err = other.Still(t.Context(), 1, 32, 80)
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		_, err = other.Decode(t.Context(), clip.Units[0], 1)
		require.ErrorIs(t, err, ErrClosed)
		other.Close()
		_, err = p.Open("late", MJPEG, 100).Decode(t.Context(), clip.Units[0], 1)
		require.ErrorIs(t, err, ErrClosed)
	}
}

// logBuffer is a log that a test reads.
type logBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// What a process writes to its standard error is read, counted, and logged in one line.
func TestNoiseIsDrained(t *testing.T) {
	var log logBuffer
	p := newPool(t, Options{Log: log.logger()})
	d := p.Open("gate", MJPEG, 100)
	_, err := d.Decode(t.Context(), noiseUnit, 1)
	require.Error(t, err)
	require.False(t, errors.Is(err, ErrLost), "%v", err)
	require.NoError(t, p.Close())
	require.EqualValues(t, 20_000, testutil.ToFloat64(p.metrics.lines))
	require.Equal(t, 1, strings.Count(log.String(), "Corrupt JPEG data"))
}

// Units that are decoded together give what they give one by one: pictures, luma, errors, and
// stills of them all.
func TestDecodeAll(t *testing.T) {
	for _, isolation := range []string{OwnProcess, InProcess} {
		for _, f := range []Format{H264, H265, MJPEG} {
			t.Run(isolation+"/"+string(f), func(t *testing.T) {
				clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 320, Height: 180, Frames: 16,
					BFrames: 1})
				p := newPool(t, Options{Isolation: isolation})
				alone, together := p.Open("alone", f, 14_400), p.Open("together", f, 14_400)
				defer alone.Close()
				defer together.Close()
				var units []Unit
				for i, au := range clip.Units {
					if i == 13 {
						au = []byte{0, 0, 1}
					}
					units = append(units, Unit{Data: au, PTS: place(f, clip, i), LumaFrom: int64(i - i%3)})
				}
				var want, got []Decoded
				for _, u := range units {
					alone.LumaFrom(u.LumaFrom)
					pictures, err := alone.Decode(t.Context(), u.Data, u.PTS)
					for i := range pictures {
						pictures[i].Luma = bytes.Clone(pictures[i].Luma)
					}
					want = append(want, Decoded{pictures, err})
				}
				calls := 0
				for len(got) < len(units) {
					calls++
					all := together.DecodeAll(t.Context(), units[len(got):])
					for _, o := range all {
						one := Decoded{Err: o.Err}
						for _, pic := range o.Pictures {
							_, err := together.Still(t.Context(), pic.PTS, 0, 80)
							require.NoError(t, err)
							pic.Luma = bytes.Clone(pic.Luma) // a still leaves it as it is
							one.Pictures = append(one.Pictures, pic)
						}
						got = append(got, one)
					}
				}
				require.Equal(t, want, got)
				require.Equal(t, (len(units)+MaxTogether-1)/MaxTogether, calls)
			})
		}
	}
}

// What the pipe would not take at once is asked for one by one; what is too large is refused alone.
func TestDecodeAllTakesWhatFits(t *testing.T) {
	of := func(sizes ...int) (units []Unit) {
		for _, n := range sizes {
			units = append(units, Unit{Data: make([]byte, n)})
		}
		return units
	}
	require.Equal(t, 3, together(of(10, 10, 10, 10)))
	require.Equal(t, 2, together(of(togetherBytes-10, 10, 10)))
	require.Equal(t, 1, together(of(togetherBytes, 1)))
	require.Equal(t, 1, together(of(worker.MaxAccessUnit+1, 1)))
	require.Equal(t, 1, together(of(10)))
	require.Equal(t, 1, together(of(0, 1)), "refused")
	require.Equal(t, 1, together(of(1, 0, 1)))

	p := newPool(t, Options{})
	d := p.Open("c", H264, 0)
	defer d.Close()
	all := d.DecodeAll(t.Context(), of(0, 1))
	require.Len(t, all, 1)
	require.ErrorContains(t, all[0].Err, "an access unit of 0 bytes")

	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 64, Height: 48, Frames: 3})
	_, err := d.Decode(t.Context(), clip.Units[0], 0)
	require.NoError(t, err)
	for _, o := range d.DecodeAll(t.Context(), []Unit{{Data: clip.Units[1]}, {Data: crashUnit},
		{Data: clip.Units[2]}}) {
		require.ErrorIs(t, o.Err, ErrLost, "all that was on the way")
	}
	all = d.DecodeAll(t.Context(), []Unit{{Data: clip.Units[0]}, {Data: clip.Units[1]}})
	require.Len(t, all, 2)
	require.NoError(t, all[0].Err)
	require.NoError(t, all[1].Err)
}
