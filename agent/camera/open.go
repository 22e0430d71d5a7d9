package camera

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"vmsbridge/agent/camera/unit"
)

// open asks for the description, chooses a stream of it, and has it played.
func (s *session) open() *Failure {
	var desc *description.Session
	err := s.bounded(s.t.ConnectTimeout+2*s.t.ReadTimeout, func() (err error) {
		desc, _, err = s.client.Describe(s.t.url)
		return err
	})
	if err != nil {
		return s.explain("DESCRIBE", err)
	}
	var offers []Offer
	if o := s.offers.Load(); o != nil {
		offers = *o
	}
	c, f := choose(desc, offers)
	if f != nil {
		return f
	}
	if f := s.prepare(c); f != nil {
		return f
	}
	if err := s.bounded(s.t.ReadTimeout, func() error {
		_, err := s.client.Setup(desc.BaseURL, c.media, 0, 0)
		return err
	}); err != nil {
		return s.explain("SETUP", err)
	}
	s.client.OnPacketRTP(c.media, c.format, func(p *rtp.Packet) { s.guarded(func() { s.onPacket(p) }) })
	s.client.OnPacketRTCP(c.media, func(p rtcp.Packet) { s.guarded(func() { s.onRTCP(p) }) })
	if err := s.bounded(s.t.ReadTimeout, func() error {
		_, err := s.client.Play(nil)
		return err
	}); err != nil {
		return s.explain("PLAY", err)
	}
	s.dialer.Settled()
	return nil
}

// prepare sets up the way from packets to units.
func (s *session) prepare(c choice) *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info{codec: c.codec, transport: s.transportName()}
	s.lastAt = time.Now()
	s.build = unit.NewBuilder(c.codec, s.floor, &s.stats.built, c.sets...)
	var err error
	s.asm, err = unit.NewAssembler(c.codec, c.mode, s.onCoded, func(err error) {
		s.stats.decodeErrors.Add(1)
		s.lastErr = err.Error()
	})
	if err != nil {
		return failf(UnsupportedCodec, err, "The camera packs its %s stream in a way that cannot be read (%s). "+
			"Choose another profile or codec in the camera.", c.codec, s.t.clean(err.Error()))
	}
	return nil
}

func (s *session) transportName() string {
	name := map[gortsplib.Transport]string{gortsplib.TransportTCP: TransportTCP, gortsplib.TransportUDP: TransportUDP,
		gortsplib.TransportUDPMulticast: TransportMulticast}[s.transport]
	if s.t.secure {
		name = "tls+" + name
	}
	return name
}

// bounded runs a request of the client with a limit. Being cut off, the client returns an error of
// its own.
func (s *session) bounded(limit time.Duration, request func() error) error {
	var expired atomic.Bool
	timer := time.AfterFunc(limit, func() {
		expired.Store(true)
		s.dialer.Drop()
	})
	defer timer.Stop()
	err := request()
	if err != nil && expired.Load() {
		return errors.Join(errNoAnswer, err)
	}
	return err
}

var errNoAnswer = errors.New("no answer in time")
