package footage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/testclip"
	"vmsbridge/agent/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// taken is what a test keeps of a picture.
type taken struct {
	number        int
	at            time.Duration
	width, height int
	luma          []byte // reduced
	full          planar.Plane
	damaged       bool
}

// read reads all of a source.
func read(t testing.TB, path string, o Options) ([]taken, Info, error) {
	t.Helper()
	f, err := Open(t.Context(), path, o)
	if err != nil {
		return nil, Info{}, err
	}
	defer f.Close()
	var all []taken
	for {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return all, f.Info, nil
		}
		if err != nil {
			return all, f.Info, err
		}
		k := taken{number: p.Number, at: p.At, damaged: p.Damaged != nil}
		if p.Damaged == nil {
			require.NoError(t, p.Image.Check())
			w, h := planar.Fit(p.Image.Width, p.Image.Height, pipeline.LumaPixels)
			k.width, k.height, k.luma = p.Image.Width, p.Image.Height, planar.Luma(p.Image, w, h)
			k.full = p.Image.Y
			k.full.Pix = bytes.Clone(p.Image.Y.Pix)
		}
		all = append(all, k)
	}
}

// ffmpeg makes a clip in a folder of the test's own.
func ffmpeg(t testing.TB, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed: apt install ffmpeg")
	}
	path := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("ffmpeg", slices.Concat([]string{"-v", "error", "-nostdin"}, args,
		[]string{path})...).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// What replay gives to the detector is what the bridge's decoders give for the same bytes: not one
// value differs.
func TestPicturesAreThoseOfTheBridge(t *testing.T) {
	for _, spec := range []testclip.Spec{
		{Codec: "h264", Width: 320, Height: 180, Frames: 20, BFrames: 2},
		{Codec: "h264", Width: 642, Height: 358, Frames: 12, QP: 34}, // the loop filter would show
		{Codec: "h264", Width: 640, Height: 360, Frames: 8, Full: true},
		{Codec: "h265", Width: 640, Height: 360, Frames: 12, BFrames: 2},
		{Codec: "h265", Width: 320, Height: 184, Frames: 6, PixFmt: "yuv420p10le"},
		{Codec: "h265", Width: 320, Height: 184, Frames: 6, Full: true},
	} {
		t.Run(fmt.Sprintf("%s-%dx%d-%s-full=%v", spec.Codec, spec.Width, spec.Height, spec.PixFmt, spec.Full),
			func(t *testing.T) {
				clip := testclip.Make(t, spec)
				e := engine.New(engine.Options{})
				d, err := e.Open(map[string]engine.Format{"h264": engine.H264, "h265": engine.H265}[spec.Codec],
					pipeline.LumaPixels)
				if err != nil {
					t.Skipf("no decoder on this machine: %v", err)
				}
				defer d.Close()
				var live []engine.Picture
				for i, au := range clip.Units {
					p, err := d.Decode(au, int64(i))
					require.NoError(t, err)
					live = append(live, p...)
				}
				rest, err := d.Flush()
				require.NoError(t, err)
				live = append(live, rest...)

				path := filepath.Join(t.TempDir(), "clip."+spec.Codec)
				require.NoError(t, os.WriteFile(path, bytes.Join(clip.Units, nil), 0o600))
				got, info, err := read(t, path, Options{Rate: 10})
				require.NoError(t, err)
				require.Len(t, got, spec.Frames)
				require.Len(t, live, spec.Frames)
				require.False(t, info.Timed)
				for i := range got {
					require.Equal(t, i, got[i].number)
					require.Equal(t, time.Duration(i)*100*time.Millisecond, got[i].at)
					require.Equal(t, []int{spec.Width, spec.Height}, []int{got[i].width, got[i].height})
					require.True(t, bytes.Equal(live[i].Luma, got[i].luma), "picture %d differs", i)
				}
			})
	}
}

// Times are the file's, whatever the rate does.
func TestVariableRate(t *testing.T) {
	path := ffmpeg(t, "vfr.mkv", "-f", "lavfi", "-i", "testsrc=s=160x120:r=20:d=3", "-vf",
		"select='lt(n,20)+gte(n,40)*not(mod(n,4))'", "-fps_mode", "vfr", "-c:v", "libx264", "-bf", "2")
	got, info, err := read(t, path, Options{Rate: 3})
	require.NoError(t, err)
	require.True(t, info.Timed)
	require.Len(t, got, 25)
	for i, p := range got {
		want := time.Duration(i) * 50 * time.Millisecond
		if i >= 20 {
			want = 2*time.Second + time.Duration(i-20)*200*time.Millisecond
		}
		// Matroska's times are whole milliseconds
		require.InDelta(t, want.Seconds(), p.at.Seconds(), 0.0011, "picture %d", i)
	}
}

// Every form of clip gives the pictures that were put in: their number, size, and range.
func TestForms(t *testing.T) {
	const ramp = "gradients=s=320x240:c0=black:c1=white:x0=0:y0=0:x1=319:y1=0:speed=0.00001:r=10:d=2,format=yuv444p"
	for name, c := range map[string]struct {
		file string
		args []string
		w, h int
		n    int
	}{
		"avi mjpeg, full range": {"a.avi", []string{"-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p"}, 320, 240,
			20},
		"raw mjpeg":     {"a.mjpeg", []string{"-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj422p"}, 320, 240, 20},
		"limited range": {"a.mp4", []string{"-c:v", "libx264", "-qp", "8", "-pix_fmt", "yuv420p"}, 320, 240, 20},
		"full range": {"a.mp4", []string{"-vf", "scale=out_range=pc", "-c:v", "libx264", "-qp", "8", "-pix_fmt",
			"yuv420p", "-color_range", "pc"}, 320, 240, 20},
		"ten bits": {"a.mkv", []string{"-c:v", "libx265", "-x265-params", "log-level=error:qp=8", "-pix_fmt",
			"yuv420p10le"}, 320, 240, 20},
		"raw rgb in avi": {"a.avi", []string{"-c:v", "rawvideo", "-pix_fmt", "bgr24"}, 320, 240, 20},
		"gif": {"a.gif", []string{"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"}, 320,
			240, 20},
		"gray ffv1": {"a.mkv", []string{"-c:v", "ffv1", "-pix_fmt", "gray"}, 320, 240, 20},
		"odd size":  {"a.mkv", []string{"-vf", "scale=317:239", "-c:v", "ffv1", "-pix_fmt", "yuv420p"}, 317, 239, 20},
		"interlaced": {"a.ts", []string{"-vf", "interlace,format=yuv420p", "-c:v", "mpeg2video", "-flags",
			"+ildct+ilme", "-q:v", "2"}, 320, 240, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := read(t, ffmpeg(t, c.file, append([]string{"-f", "lavfi", "-i", ramp}, c.args...)...),
				Options{})
			require.NoError(t, err)
			if c.n > 0 {
				require.Len(t, got, c.n)
			}
			require.Greater(t, len(got), 5)
			p := got[len(got)-1]
			require.Equal(t, []int{c.w, c.h}, []int{p.width, p.height})
			w, h := planar.Fit(c.w, c.h, pipeline.LumaPixels)
			row := p.luma[h/2*w:][:w]
			for _, x := range []int{0, w / 4, w / 2, 3 * w / 4, w - 1} {
				require.InDelta(t, 255*float64(x)/float64(w-1), float64(row[x]), 9, "column %d of %v", x, row)
			}
		})
	}
}

// A telephone held upright says how to turn its pictures, and so the regions drawn on them fit.
func TestRotation(t *testing.T) {
	flat := ffmpeg(t, "flat.mp4", "-f", "lavfi", "-i", "testsrc=s=320x180:r=10:d=1", "-c:v", "libx264")
	// up to ffmpeg 5.1; later ones have an option
	how := []string{"-i", flat, "-c", "copy", "-metadata:s:v:0", "rotate=90"}
	if exec.Command("ffmpeg", "-v", "quiet", "-display_rotation", "90", "-i", flat, "-f", "null", "-").Run() == nil {
		how = []string{"-display_rotation", "90", "-i", flat, "-c", "copy"}
	}
	turned := ffmpeg(t, "turned.mp4", how...)
	got, _, err := read(t, turned, Options{})
	require.NoError(t, err)
	require.Equal(t, []int{180, 320}, []int{got[0].width, got[0].height})
}

// What cannot be read is refused with its name and what to do.
func TestUnreadable(t *testing.T) {
	good := ffmpeg(t, "good.mp4", "-f", "lavfi", "-i", "testsrc=s=320x180:r=10:d=3", "-c:v", "libx264")
	whole, err := os.ReadFile(good)
	require.NoError(t, err)
	file := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	noise := make([]byte, 5000)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"garbage":  {file("garbage.mp4", noise), []string{"garbage.mp4", "again"}},
		"text":     {file("notes.txt", []byte("hello\n")), []string{"notes.txt", "ffmpeg cannot read it"}},
		"no index": {file("cut.mp4", whole[:len(whole)/2]), []string{"cut.mp4", "export it again"}},
		"empty":    {file("empty.mp4", nil), []string{"empty.mp4", "empty"}},
		"no file":  {"/no/such/clip.mp4", []string{"/no/such/clip.mp4", "no such file"}},
		"sound alone": {ffmpeg(t, "sound.wav", "-f", "lavfi", "-i", "sine=d=1"),
			[]string{"sound.wav", "no video"}},
		"a single image": {ffmpeg(t, "still.png", "-f", "lavfi", "-i", "testsrc", "-frames:v", "1"),
			[]string{"still.png", "single image"}},
		"an image, renamed": {file("still.mp4",
			mustRead(t, ffmpeg(t, "still.png", "-f", "lavfi", "-i", "testsrc", "-frames:v", "1"))),
			[]string{"still.mp4", "single image"}},
		"a pipe":   {"/dev/null", []string{"/dev/null", "save what comes from it first"}},
		"a camera": {"rtsp://10.0.0.1/stream", []string{"vmsbridge probe"}},
		"a playlist": {file("list.m3u8", []byte("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/x.ts\n")),
			[]string{"list.m3u8"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(t, c.path, Options{})
			require.Error(t, err)
			for _, w := range c.want {
				require.ErrorContains(t, err, w)
			}
			require.NotContains(t, err.Error(), "0x", "no addresses")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func mustRead(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

// A recording that was cut off gives its pictures up to there, and then says so.
func TestCutOff(t *testing.T) {
	for name, args := range map[string][]string{"mkv": {"-c:v", "libx264", "-g", "10"},
		"avi": {"-c:v", "mjpeg", "-q:v", "4", "-pix_fmt", "yuvj420p"}} {
		whole := mustRead(t, ffmpeg(t, "good."+name,
			slices.Concat([]string{"-f", "lavfi", "-i", "testsrc=s=320x180:r=10:d=20"}, args)...))
		path := filepath.Join(t.TempDir(), "cut."+name)
		require.NoError(t, os.WriteFile(path, whole[:len(whole)/2], 0o600))
		got, _, err := read(t, path, Options{})
		require.ErrorContains(t, err, "cut."+name+": it ends early")
		require.Greater(t, len(got), 50)
		require.Less(t, len(got), 150)
	}
}

// Damage in the middle is told, and the rest is read.
func TestDamaged(t *testing.T) {
	whole := mustRead(t, ffmpeg(t, "good.ts", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=10:d=10", "-c:v", "libx264",
		"-g", "10"))
	for i := len(whole) / 2; i < len(whole)/2+4000; i++ {
		whole[i] ^= byte(i)
	}
	path := filepath.Join(t.TempDir(), "hurt.ts")
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	f, err := Open(t.Context(), path, Options{})
	require.NoError(t, err)
	defer f.Close()
	n := 0
	for err == nil {
		if _, err = f.Next(); err == nil {
			n++
		}
	}
	require.ErrorIs(t, err, io.EOF)
	require.Greater(t, n, 85)
	require.Contains(t, f.Complaint(), "hurt.ts are damaged")
}

// Whoever stops in the middle leaves nothing behind: goleak looks, and Close waits for the process.
func TestStopInTheMiddle(t *testing.T) {
	path := ffmpeg(t, "long.mkv", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=20", "-c:v", "libx264", "-preset",
		"ultrafast")
	for _, pictures := range []int{0, 1, 30} {
		ctx, cancel := context.WithCancel(t.Context())
		f, err := Open(ctx, path, Options{})
		require.NoError(t, err)
		for range pictures {
			_, err := f.Next()
			require.NoError(t, err)
		}
		if pictures == 30 {
			cancel()
			for err == nil {
				_, err = f.Next()
			}
			require.False(t, errors.Is(err, io.EOF), "a canceled reading is not the end of the file")
		}
		f.Close()
		require.NotNil(t, f.from.(*clip).cmd.ProcessState, "the process was waited for")
		cancel()
	}
}

func TestWithoutFFmpeg(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clip.mp4")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), path, Options{})
	require.ErrorIs(t, err, ErrNoFFmpeg)
	require.ErrorContains(t, err, "apt install ffmpeg")
}

// Times that stand still or go back go on at the usual pace; gaps stay.
func TestClock(t *testing.T) {
	c := clock{step: 100 * time.Millisecond}
	var got []int64
	for _, ms := range []int64{5000, 5100, 5100, 5050, 5150, 5250, 15000, 3000, 3100, 3200} {
		got = append(got, c.at(time.Duration(ms)*time.Millisecond).Milliseconds())
	}
	require.Equal(t, []int64{0, 100, 200, 300, 400, 500, 10250, 10350, 10450, 10550}, got)
}

func FuzzStreamHeader(f *testing.F) {
	for _, s := range []string{"YUV4MPEG2 W640 H360 F10:1 Ip A0:0 Cmono\n", "YUV4MPEG2 W2 H2 Cmono10\n",
		"YUV4MPEG2 W-1 H9 Cmono99\n", "YUV4MPEG2 W640 H360 C420jpeg\n", "\n", "FRAME\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		form, err := readForm(bufio.NewReader(bytes.NewReader(b)))
		if err == nil {
			require.Positive(t, form.width)
			require.LessOrEqual(t, form.width*form.height, planar.MaxPixels)
			require.GreaterOrEqual(t, form.bits, 8)
			require.LessOrEqual(t, form.bits, 16)
		}
	})
}
