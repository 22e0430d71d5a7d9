package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/codec"
	"vmsbridge/storage/stills"
)

// lockedShelf is a shelf for several goroutines.
type lockedShelf struct {
	mu    sync.Mutex
	shelf shelf
}

func (s *lockedShelf) Append(st stills.Still) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shelf.Append(st)
}

func (s *lockedShelf) all() []stills.Still {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]stills.Still(nil), s.shelf...)
}

// unitsOf are the access units of a film, ten a second from epoch on, in decode order.
func unitsOf(f clip.Film) (units []camera.AccessUnit) {
	for i, u := range f.Units {
		au := camera.AccessUnit{Codec: camera.Codec(f.Codec), Time: at(u.Shown * 100), RandomAccess: u.Key,
			NewStream: i == 0, Width: f.Width, Height: f.Height}
		for _, n := range u.NALs {
			if au.Codec != camera.MJPEG {
				au.Data = append(au.Data, 0, 0, 0, 1)
			}
			au.Data = append(au.Data, n...)
		}
		units = append(units, au)
	}
	return units
}

// films are drawn once; tests do not run beside each other.
var films = map[string]clip.Film{}

// film is a person who walks through from 4 s to 12 s and another from 18 s to 26 s, in a loop of
// 30 s.
func film(t *testing.T, c camera.Codec, bframes int) []camera.AccessUnit {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil && c != camera.MJPEG {
		t.Skip("ffmpeg is not installed: apt install ffmpeg (scripts/deps does)")
	}
	key := fmt.Sprint(c, bframes)
	if _, ok := films[key]; !ok {
		films[key] = clip.Draw(t, "--scene", "person", "--seed", "0", "--size", "320x176", "--fps", "10", "--codec",
			string(c), "--gop", "20", "--bframes", fmt.Sprint(bframes))
	}
	return unitsOf(films[key])
}

func TestMainStillsOfMomentsThatHavePassed(t *testing.T) {
	for _, c := range []struct {
		codec   camera.Codec
		bframes int
	}{{camera.H264, 0}, {camera.H264, 2}, {camera.H265, 0}, {camera.MJPEG, 0}} {
		t.Run(string(c.codec), func(t *testing.T) {
			units := film(t, c.codec, c.bframes)
			pool := codec.NewPool(codec.Options{})
			defer func() { require.NoError(t, pool.Close()) }()
			var kept lockedShelf
			s := &mainStills{camera: "c", album: &kept, quality: func() int { return 80 },
				m: NewMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler),
				queue: newQueue(func(int) {}), held: gops{keep: 5 * time.Second},
				decoder: func(f codec.Format) *codec.Decoder { return pool.Open("c", f, 0) }}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { defer close(done); _ = s.Run(ctx) }()
			defer func() { cancel(); <-done }()

			feed := func(from, to int) {
				for _, u := range units[from:to] {
					s.queue.PutUnit(u)
				}
			}
			take := func(n int) []stills.Still {
				require.Eventually(t, func() bool { return len(kept.all()) == n }, time.Minute, 5*time.Millisecond)
				return kept.all()
			}
			feed(0, 60)
			s.Want(at(2730)) // between two pictures, in the group before the last
			s.Want(at(3000)) // on in the same group
			s.Want(at(2200)) // and back
			got := take(3)
			s.Want(at(6500)) // not here yet
			feed(60, 80)
			got = append(got[:3], take(4)[3])
			for i, want := range []int{2800, 3000, 2200, 6500} {
				require.Equal(t, at(want), got[i].Time)
				require.Equal(t, stills.Main, got[i].Kind)
				config, err := jpeg.DecodeConfig(bytes.NewReader(got[i].JPEG))
				require.NoError(t, err)
				require.Equal(t, [2]int{320, 176}, [2]int{config.Width, config.Height})
			}
			if c.codec == camera.MJPEG {
				require.Equal(t, units[28].Data, got[0].JPEG, "the camera's own bytes")
			}
			s.Want(at(60_000)) // never comes: the newest before it is taken
			require.Equal(t, at(7900), take(5)[4].Time)
		})
	}
}

// A full-resolution stream that takes too much memory is told by its camera's pipeline, until
// another one can be decoded.
func TestAMainStreamThatIsRefused(t *testing.T) {
	huge, err := os.ReadFile(filepath.Join("..", "codec", "engine", "testdata", "7680x5200-16.264"))
	require.NoError(t, err)
	pool := codec.NewPool(codec.Options{})
	defer func() { require.NoError(t, pool.Close()) }()
	var kept lockedShelf
	p := &Pipeline{main: &mainStills{camera: "c", album: &kept, quality: func() int { return 80 },
		m: NewMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler), queue: newQueue(func(int) {}),
		held: gops{keep: 5 * time.Second}, decoder: func(f codec.Format) *codec.Decoder {
			return pool.Open("c", f, 0)
		}}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = p.main.Run(ctx) }()
	defer func() { cancel(); <-done }()
	units := film(t, camera.H264, 0)
	p.main.queue.PutUnit(camera.AccessUnit{Codec: camera.H264, Time: at(0), RandomAccess: true, NewStream: true,
		Data: huge})
	require.Empty(t, p.MainRefused())
	p.main.Want(at(0))
	require.Eventually(t, func() bool { return p.MainRefused() != "" }, time.Minute, 5*time.Millisecond)
	require.Contains(t, p.MainRefused(), "7680x5200 with 16 to refer to take")
	require.Contains(t, p.MainRefused(), "set the camera to a smaller picture")
	for _, u := range units[:10] { // in the same stream: what clears it is the still that was made
		u.NewStream = false
		p.main.queue.PutUnit(u)
	}
	p.main.Want(at(300))
	require.Eventually(t, func() bool { return len(kept.all()) == 1 }, time.Minute, 5*time.Millisecond)
	require.Empty(t, p.MainRefused())

	p.main.queue.PutUnit(camera.AccessUnit{Codec: camera.H264, Time: at(10_000), RandomAccess: true, NewStream: true,
		Data: huge})
	p.main.Want(at(10_000))
	require.Eventually(t, func() bool { return p.MainRefused() != "" }, time.Minute, 5*time.Millisecond)
	units[0].NewStream = true
	p.main.queue.PutUnit(units[0])
	require.Eventually(t, func() bool { return p.MainRefused() == "" }, time.Minute, 5*time.Millisecond,
		"another stream, of which nothing is wanted yet")
}

// A wish that stood behind one that took long gets its picture, if that came in time.
func TestWishBehindASlowOne(t *testing.T) {
	var picture bytes.Buffer
	require.NoError(t, jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 16, 16)), nil))
	var kept lockedShelf
	s := &mainStills{camera: "c", album: &kept, m: NewMetrics(prometheus.NewRegistry()), queue: newQueue(func(int) {}),
		held: gops{keep: 5 * time.Second}}
	put := func(ms int) {
		s.queue.PutUnit(camera.AccessUnit{Codec: camera.MJPEG, Time: at(ms), RandomAccess: true, NewStream: ms == 0,
			Data: picture.Bytes()})
	}
	put(0)
	s.receive()
	s.wishes = []wish{{at(900), time.Now().Add(-2 * mainPatience)}}
	put(1000)
	require.NoError(t, s.serve(t.Context()))
	require.Len(t, kept.all(), 1)
	require.Equal(t, at(1000), kept.all()[0].Time)
}
