package unit

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bluenviron/gortsplib/v4/pkg/format/rtph264"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtph265"
	"github.com/bluenviron/gortsplib/v4/pkg/format/rtpmjpeg"
	"github.com/pion/rtp"
)

// Coded is one coded picture as it came out of the packets.
type Coded struct {
	nalus   [][]byte // H.264, H.265
	jpeg    []byte   // MJPEG
	RTP     uint32   // its time
	arrival int64    // of its first packet
	step    Step
	broken  bool // parts of it are missing
	after   bool // something before it is missing
}

// mostPackets bounds what one picture may come in: MaxUnitBytes in packets of 1 kB. The
// depacketisers bound the bytes of a picture and hold every packet until its end, however little is
// in it.
const mostPackets = 8192

// wasteful is a payload that takes a small part of its buffer: by UDP each is 1.5 kB. It is held in
// one of its own.
func wasteful(payload []byte) bool { return 8*len(payload) < cap(payload) }

// Assembler puts RTP packets together to pictures, with the depacketisers of gortsplib. It keeps
// what they lose: which picture a lost packet belonged to, and when each picture's first packet
// arrived.
//
// A packet without the marker bit is held until the next one comes. If that has another timestamp,
// the marker was forgotten or lost, and is set; so every depacketiser always ends its picture in
// time. Cameras that set the marker on every slice are found out, and their pictures are divided by
// timestamp alone. It is not safe for concurrent use.
type Assembler struct {
	codec   Codec
	mode    int // H.264 packetization-mode, H.265 max DON diff
	decode  func(*rtp.Packet) (nalus [][]byte, jpeg []byte, err error)
	emit    func(Coded)
	onError func(error)

	held    *rtp.Packet
	heldAt  arrival
	pending bool // packets were lost since the last one

	cur      Coded // the picture being put together; valid while curOpen
	curOpen  bool
	skip     bool // the rest of cur is thrown away
	lost     bool // a whole picture, or what is left of it, was thrown away
	lastRTP  uint32
	lastSeen bool
	packets  int  // of cur that the depacketiser was given
	stepped  bool // the clock was set forward within the last picture
	byTime   bool // markers of this camera mean nothing
}

type arrival struct {
	at   int64
	step Step
	loss bool // packets are missing before it
	tail bool // and perhaps behind it
}

// NewAssembler is for a stream of that codec. mode is H.264's packetization-mode or H.265's
// greatest DON difference. emit gets each picture, and onError what is wrong with a packet or a
// picture, both from within Add.
func NewAssembler(codec Codec, mode int, emit func(Coded), onError func(error)) (*Assembler, error) {
	a := &Assembler{codec: codec, mode: mode, emit: emit, onError: onError}
	return a, a.reset()
}

// reset makes a new depacketiser, which forgets what it holds.
func (a *Assembler) reset() error {
	switch a.codec {
	case H264:
		d := &rtph264.Decoder{PacketizationMode: a.mode}
		a.decode = func(p *rtp.Packet) ([][]byte, []byte, error) { n, err := d.Decode(p); return n, nil, err }
		return d.Init()
	case H265:
		d := &rtph265.Decoder{MaxDONDiff: a.mode}
		a.decode = func(p *rtp.Packet) ([][]byte, []byte, error) { n, err := d.Decode(p); return n, nil, err }
		return d.Init()
	case MJPEG:
		d := &rtpmjpeg.Decoder{}
		a.decode = func(p *rtp.Packet) ([][]byte, []byte, error) { j, err := d.Decode(p); return nil, j, err }
		return d.Init()
	}
	return fmt.Errorf("assemble %q: unknown codec", a.codec)
}

// Lost tells of a gap in the sequence numbers before the packet after the gap comes.
func (a *Assembler) Lost() { a.pending = true }

// Add takes the next packet and when it came, as Clock says. It keeps p and its payload,
// and may change its marker.
func (a *Assembler) Add(p *rtp.Packet, at int64, step Step) {
	if len(p.Payload) == 0 {
		return // padding, or a hole punched through a firewall
	}
	if wasteful(p.Payload) {
		p.Payload = bytes.Clone(p.Payload)
	}
	now := arrival{at: at, step: step, loss: a.pending}
	a.pending = false
	if held := a.held; held != nil {
		a.held = nil
		if held.Timestamp != p.Timestamp {
			held.Marker = true
			a.heldAt.tail = now.loss // its picture's end may be among the lost
		}
		a.feed(held, a.heldAt)
	}
	if a.byTime {
		p.Marker = false
	}
	if p.Marker {
		a.feed(p, now)
	} else {
		a.held, a.heldAt = p, now
	}
}

// feed gives a packet to the depacketiser.
func (a *Assembler) feed(p *rtp.Packet, at arrival) {
	a.stepped = a.stepped || at.step == SetForward
	switch {
	case !a.curOpen || a.cur.RTP != p.Timestamp:
		a.cur = Coded{RTP: p.Timestamp, arrival: at.at, after: at.loss || a.lost}
		if a.stepped {
			a.cur.step = SetForward
		}
		a.curOpen, a.skip, a.lost, a.stepped, a.packets = true, false, false, false, 0
	case at.loss:
		a.cur.broken = true
	}
	a.cur.broken = a.cur.broken || at.tail
	if !a.skip {
		nalus, jpeg, err := a.decode(p)
		a.packets++
		switch {
		case err == nil:
			a.curOpen = false
			a.complete(nalus, jpeg)
			return
		case errors.Is(err, rtph264.ErrMorePacketsNeeded), errors.Is(err, rtph265.ErrMorePacketsNeeded),
			errors.Is(err, rtpmjpeg.ErrMorePacketsNeeded):
			switch {
			case p.Marker:
				err = errors.New("the last packet of a picture ends in the middle of a fragment")
			case a.packets >= mostPackets:
				err = fmt.Errorf("a picture comes in more than %d packets", mostPackets)
			default:
				return
			}
		}
		// What the depacketiser holds of this picture cannot be trusted, and would spill into the
		// next.
		a.skip, a.lost = true, true
		_ = a.reset() // cannot fail: the same settings worked before
		if !errors.Is(err, rtph264.ErrNonStartingPacketAndNoPrevious) &&
			!errors.Is(err, rtph265.ErrNonStartingPacketAndNoPrevious) &&
			!errors.Is(err, rtpmjpeg.ErrNonStartingPacketAndNoPrevious) {
			a.onError(err)
		}
	}
	if p.Marker {
		a.curOpen = false
		a.lost = true
	}
}

// complete hands the picture on, unless it turns out to be only a part of one.
func (a *Assembler) complete(nalus [][]byte, jpeg []byte) {
	c := a.cur
	c.nalus, c.jpeg = nalus, jpeg
	size := len(jpeg)
	for _, n := range nalus {
		size += len(n) + 4
	}
	if size > MaxUnitBytes {
		a.lost = true
		a.onError(fmt.Errorf("access unit of %d bytes is larger than %d", size, MaxUnitBytes))
		return
	}
	if a.codec != MJPEG {
		pic := look(a.codec, nalus)
		if pic.coded && !pic.starts {
			if a.lastSeen && a.lastRTP == c.RTP && !c.after && !c.broken && !a.byTime {
				a.byTime = true
				a.onError(errors.New("the camera sets the marker bit on every slice; pictures are now divided by " +
					"timestamp"))
			}
			c.broken = true
		}
		if pic.coded {
			a.lastRTP, a.lastSeen = c.RTP, true
		}
	}
	a.emit(c)
}
