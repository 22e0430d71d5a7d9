package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/storage/stills"
)

const (
	// mainReach is how long after a moment its full-resolution picture may be: less than what is
	// added to an event's start when its image is asked for.
	mainReach = 400 * time.Millisecond
	// mainPatience is how long a wish waits for the full-resolution stream to arrive at its moment.
	mainPatience = 2 * time.Second
	// maxWishes bounds what may wait; one per main_interval comes.
	maxWishes = 8
)

// mainStills makes the stills of a full-resolution stream that is not the one that motion is looked
// for in. It holds the newest groups of pictures undecoded and decodes only as far as a wish needs,
// so that a quiet camera costs nothing.
type mainStills struct {
	camera  string
	album   album
	decoder func(codec.Format) *codec.Decoder
	quality func() int
	m       *Metrics
	log     *slog.Logger

	queue *queue

	// why the stream cannot be decoded here; nil: it can, or nothing was wished for
	refused atomic.Pointer[codec.UnsupportedError]

	mu     sync.Mutex // guards wishes
	wishes []wish

	held gops
	at   position
	dec  *codec.Decoder
	kind camera.Codec
}

type wish struct {
	moment time.Time
	made   time.Time // by the local clock
}

// position is how far the decoder has come: unit index `next` of group `group` is fed next.
type position struct {
	group uint64
	next  int
}

// Want asks for the still of a moment, made as soon as its picture is here. It never blocks.
func (s *mainStills) Want(moment time.Time) {
	s.mu.Lock()
	if len(s.wishes) < maxWishes {
		s.wishes = append(s.wishes, wish{moment, time.Now()})
	}
	s.mu.Unlock()
	s.queue.signal()
}

// Run serves until ctx is done.
func (s *mainStills) Run(ctx context.Context) error {
	defer func() {
		if s.dec != nil {
			s.dec.Close()
		}
	}()
	tick := time.NewTicker(mainPatience / 8)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.queue.wake:
		case <-tick.C:
		}
		s.receive()
		if err := s.serve(ctx); err != nil && ctx.Err() == nil {
			s.m.stillFailures.WithLabelValues(s.camera).Inc()
			s.note(err)
		}
	}
}

// note keeps what a person has to do something about, and says it once.
func (s *mainStills) note(err error) {
	why := (*codec.UnsupportedError)(nil)
	if !errors.As(err, &why) {
		s.log.Debug("make a main still", "camera", s.camera, "error", err)
	} else if s.refused.Swap(why) == nil {
		s.log.Warn("the full-resolution stream cannot be decoded, its stills are missing", "camera", s.camera, "error",
			why)
	}
}

// receive takes what has come, without waiting.
func (s *mainStills) receive() {
	for {
		it, ok := s.queue.TryGet()
		if !ok {
			return
		}
		switch {
		case it.status != nil:
			if it.status.State != camera.Online {
				s.held.Reset()
			}
		default:
			if it.unit.NewStream {
				s.held.Reset()
				s.refused.Store(nil)
				s.kind = it.unit.Codec
				if s.dec != nil {
					s.dec.Close()
					s.dec = nil
				}
			}
			s.held.Add(it.unit)
		}
	}
}

// serve grants the wishes whose moment has arrived, and drops those that have waited too long.
func (s *mainStills) serve(ctx context.Context) error {
	var errs []error
	for {
		s.mu.Lock()
		if len(s.wishes) == 0 {
			s.mu.Unlock()
			return errors.Join(errs...)
		}
		w := s.wishes[0]
		s.mu.Unlock()
		late := time.Since(w.made) > mainPatience
		s.receive() // what came while the wish before this one was granted is no later for that
		g, t := s.held.Find(w.moment, mainReach)
		if !late && (g == nil || t.Before(w.moment)) {
			return errors.Join(errs...)
		}
		s.mu.Lock()
		s.wishes = s.wishes[1:]
		s.mu.Unlock()
		if g == nil {
			errs = append(errs, errors.New("no full-resolution picture is at hand"))
			continue
		}
		errs = append(errs, s.make(ctx, g, t))
	}
}

// make decodes the group as far as the picture at t and stores its JPEG.
func (s *mainStills) make(ctx context.Context, g *group, t time.Time) error {
	t, err := s.affordable(g, t)
	if err != nil {
		return err
	}
	jpeg, err := s.develop(ctx, g, t)
	if err != nil {
		s.at = position{}
		return err
	}
	if err := s.album.Append(stills.Still{Camera: s.camera, Kind: stills.Main, Time: t, JPEG: jpeg}); err != nil {
		return err
	}
	s.refused.Store(nil)
	s.m.stills.WithLabelValues(s.camera, stills.Main.String()).Inc()
	return nil
}

// affordable is the time of the picture to take: the group's keyframe while the camera has used up
// its share of decoding.
func (s *mainStills) affordable(g *group, t time.Time) (time.Time, error) {
	if s.kind == camera.MJPEG {
		return t, nil
	}
	if s.dec == nil {
		s.dec = s.decoder(codec.Format(s.kind))
		s.at = position{}
	}
	switch {
	case s.dec.Wants(false):
		return t, nil
	case s.dec.Wants(true):
		return g.units[0].Time, nil
	}
	return t, errors.New("the camera has used up its share of decoding time")
}

func (s *mainStills) develop(ctx context.Context, g *group, t time.Time) ([]byte, error) {
	if s.kind == camera.MJPEG {
		for _, u := range g.units {
			if u.Time.Equal(t) {
				_, _, err := codec.CheckJPEG(u.Data)
				return u.Data, err
			}
		}
		return nil, errors.New("the picture is gone")
	}
	want := t.UnixMicro()
	if s.at.group != g.id || s.passed(g, t) {
		if _, err := s.dec.Flush(ctx); err != nil && !errors.Is(err, codec.ErrLost) {
			return nil, err
		}
		s.at = position{group: g.id}
	}
	for s.at.next < len(g.units) {
		u := g.units[s.at.next]
		s.at.next++
		pictures, err := s.dec.Decode(ctx, u.Data, u.Time.UnixMicro())
		if err != nil {
			return nil, err
		}
		if holds(pictures, want) {
			return s.dec.Still(ctx, want, 0, s.quality())
		}
		s.receive() // decoding a long group takes longer than the queue may wait
		if s.dec == nil {
			return nil, errors.New("the stream began anew")
		}
	}
	pictures, err := s.dec.Flush(ctx)
	s.at = position{}
	if err != nil {
		return nil, err
	}
	if !holds(pictures, want) {
		return nil, errors.New("the decoder gave no picture for this moment")
	}
	return s.dec.Still(ctx, want, 0, s.quality())
}

// passed tells whether the decoder has gone beyond the picture at t, so that the group has to be
// fed anew.
func (s *mainStills) passed(g *group, t time.Time) bool {
	for i := 0; i < s.at.next && i < len(g.units); i++ {
		if !g.units[i].Time.Before(t) {
			return true
		}
	}
	return false
}

func holds(pictures []codec.Picture, pts int64) bool {
	for _, p := range pictures {
		if p.PTS == pts {
			return true
		}
	}
	return false
}
