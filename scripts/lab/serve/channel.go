package serve

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/format"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"vmsbridge/scripts/lab/movie"
)

const (
	clockRate   = 90000
	reportEvery = 5 * time.Second
	hopeless    = 8 * time.Second // so late that it will not keep up
)

// channel plays one movie to all who read it.
type channel struct {
	server *Server
	movie  *movie.Movie
	late   time.Duration
	media  *description.Media
	format format.Format
	stream *gortsplib.ServerStream
	encode func([][]byte) ([]*rtp.Packet, error)

	seq     uint16 // of the next packet; also counts those that are dropped
	count   int    // packets made
	octets  uint32
	sent    uint32
	reports time.Time

	mu       sync.Mutex
	playedAt time.Time // of the newest PLAY, zero if there was none or its fault is over
}

func (c *channel) open() error {
	var err error
	_, bare := c.server.fault("no-params")
	switch c.movie.Codec {
	case movie.H264:
		f := &format.H264{PayloadTyp: 96, PacketizationMode: 1}
		if sets := c.movie.ParameterSets(7, 8); !bare {
			f.SPS, f.PPS = sets[0], sets[1]
		}
		e, err2 := f.CreateEncoder()
		c.format, err = f, err2
		c.encode = func(n [][]byte) ([]*rtp.Packet, error) { return e.Encode(n) }
	case movie.H265:
		f := &format.H265{PayloadTyp: 96}
		if sets := c.movie.ParameterSets(32, 33, 34); !bare {
			f.VPS, f.SPS, f.PPS = sets[0], sets[1], sets[2]
		}
		e, err2 := f.CreateEncoder()
		c.format, err = f, err2
		c.encode = func(n [][]byte) ([]*rtp.Packet, error) { return e.Encode(n) }
	case movie.MJPEG:
		f := &format.MJPEG{}
		e, err2 := f.CreateEncoder()
		c.format, err = f, err2
		c.encode = func(n [][]byte) ([]*rtp.Packet, error) { return e.Encode(n[0]) }
	}
	if err != nil {
		return fmt.Errorf("prepare packets of %s: %w", c.movie.Codec, err)
	}
	c.media = &description.Media{Type: description.MediaTypeVideo, Formats: []format.Format{c.format}}
	c.stream = &gortsplib.ServerStream{Server: c.server.rtsp, Desc: describe(c.media)}
	if err := c.stream.Initialize(); err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	return nil
}

// played starts the clock of the faults that begin some seconds after PLAY.
func (c *channel) played() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.playedAt = time.Now()
}

// sincePlay is 0 as long as nobody plays.
func (c *channel) sincePlay() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.playedAt.IsZero() {
		return 0
	}
	return time.Since(c.playedAt)
}

func (c *channel) forgetPlay() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.playedAt = time.Time{}
}

// play sends the pictures at their times until ctx ends. After a moment in which the machine did
// not let it run it sends at once what is due. Where it cannot keep up it leaves whole rounds out
// rather than running behind for ever.
func (c *channel) play(ctx context.Context, began time.Time) {
	loop := len(c.movie.Units)
	timer := time.NewTimer(0)
	defer timer.Stop()
	silentUntilPlay := false
	for i := 0; ; i++ {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(c.movie.Rate))
		if late := time.Since(due); late > hopeless {
			i += loop * (1 + int(late/c.movie.Loop()))
			due = began.Add(time.Duration(i) * time.Second / time.Duration(c.movie.Rate))
		}
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		since := c.sincePlay()
		switch {
		case c.server.due("bye", since):
			_ = c.stream.WritePacketRTCP(c.media, &rtcp.Goodbye{Sources: []uint32{c.ssrc()}})
			c.forgetPlay()
			silentUntilPlay = true
		case c.server.due("disconnect", since):
			c.forgetPlay()
			c.server.hangUp(c)
		}
		if silentUntilPlay && c.sincePlay() == 0 {
			continue
		}
		silentUntilPlay = false
		c.send(i, began, since)
	}
}

// send sends the ith picture of the endless movie.
func (c *channel) send(i int, began time.Time, since time.Duration) {
	u := c.movie.Units[i%len(c.movie.Units)]
	shown := i/len(c.movie.Units)*len(c.movie.Units) + u.Shown
	if _, on := c.server.fault("no-keyframe"); on && u.Key && c.movie.Codec != movie.MJPEG {
		return
	}
	pkts, err := c.encode(u.NALs)
	if err != nil {
		return // a picture that RTP cannot carry is a picture the camera does not send
	}
	ticks := c.ticks(shown, since)
	for _, p := range pkts {
		p.SequenceNumber = c.seq
		p.Timestamp = ticks
		c.seq++
		c.count++
		if c.drop(since) {
			continue
		}
		if _, on := c.server.fault("garbage"); on {
			_, _ = rand.Read(p.Payload)
		}
		c.sent++
		c.octets += uint32(len(p.Payload))
		_ = c.stream.WritePacketRTP(c.media, p) // only fails when the server is being closed
	}
	if time.Since(c.reports) >= reportEvery {
		c.reports = time.Now()
		c.report(ticks, began.Add(time.Duration(shown)*time.Second/time.Duration(c.movie.Rate)))
	}
}

// ticks is the RTP time of a picture.
func (c *channel) ticks(shown int, since time.Duration) uint32 {
	t := uint32(uint64(shown) * clockRate / uint64(c.movie.Rate))
	if _, on := c.server.fault("same-time"); on {
		return 0
	}
	if n, on := c.server.fault("drift"); on {
		t -= uint32(uint64(shown) * clockRate / uint64(c.movie.Rate) * uint64(n) / 1_000_000)
	}
	if n, on := c.server.fault("jump"); on && int(since.Seconds())/n%2 == 1 {
		t += 3600 * clockRate
	}
	return t
}

func (c *channel) drop(since time.Duration) bool {
	if n, on := c.server.fault("loss"); on && c.count%n == n-1 {
		return true
	}
	for _, name := range []string{"silent", "no-packets"} {
		if _, on := c.server.fault(name); on {
			return true
		}
	}
	return c.server.due("freeze", since)
}

// report sends an RTCP sender report. gortsplib's own take nanoseconds for the fraction of NTP
// time, so they are switched off.
func (c *channel) report(ticks uint32, at time.Time) {
	if n, on := c.server.fault("ntp"); on {
		at = at.Add(time.Duration(n) * time.Second)
	}
	ntp := uint64(at.Unix()+2208988800)<<32 | uint64(at.Nanosecond())<<32/uint64(time.Second)
	_ = c.stream.WritePacketRTCP(c.media, &rtcp.SenderReport{SSRC: c.ssrc(), NTPTime: ntp, RTPTime: ticks,
		PacketCount: c.sent, OctetCount: c.octets})
}

func (c *channel) ssrc() uint32 {
	return c.stream.Stats().Medias[c.media].Formats[c.format].LocalSSRC
}
