package unit

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
)

// Builder makes access units of coded pictures: parameter sets in front, capture time, and the
// flags. It holds back everything before the first picture at which decoding can start. It is not
// safe for concurrent use.
type Builder struct {
	codec    Codec
	params   *params
	timeline *Timeline
	counts   *Counts

	started    bool
	damaged    bool // until the next whole random access point
	recovering int  // pictures until a gradual refresh is complete
	skipLead   bool // RASL pictures refer to what was not received

	sizeW, sizeH int // of the last MJPEG picture
	noReorder    int // pictures in a row without one that goes back in RTP time
	lastRTP      uint32
}

// Counts are what a builder counts; anyone may read them.
type Counts struct {
	Held       atomic.Uint64 // coded pictures not handed on: before the first random access point, or unusable
	Clamped    atomic.Uint64 // pictures whose RTP time was not believed
	Reanchored atomic.Uint64 // times that the relation of RTP time to the clock had to be made anew
}

// NewBuilder knows the parameter sets of the stream's description. Every picture's time is behind
// floor, in nanoseconds since 1970.
func NewBuilder(codec Codec, floor int64, counts *Counts, sets ...[]byte) *Builder {
	b := &Builder{codec: codec, params: newParams(codec), timeline: NewTimeline(floor), counts: counts}
	b.params.absorb(sets...)
	return b
}

// Started says whether a picture came at which decoding could start.
func (b *Builder) Started() bool { return b.started }

// Decodable says whether parameter sets of each kind came, or the codec has none.
func (b *Builder) Decodable() bool { return b.codec == MJPEG || b.params.complete() }

// Newest is the latest time that a picture was given, in nanoseconds since 1970.
func (b *Builder) Newest() int64 { return b.timeline.Newest() }

// learnAfter is how many pictures without a B-frame prove that the stream has none, whatever its
// parameter sets allow.
const learnAfter = 90

// Build returns the access unit, or false if there is nothing to hand on.
func (b *Builder) Build(c Coded) (AccessUnit, bool) {
	if c.broken || c.after {
		b.damaged = true
	}
	if b.codec == MJPEG {
		return b.buildJPEG(c)
	}
	b.params.absorb(c.nalus...)
	pic := look(b.codec, c.nalus)
	if !pic.coded {
		return AccessUnit{}, false // parameter sets or messages alone
	}
	random := pic.randomAccess && !c.broken && b.params.complete()
	if !b.started && !random {
		b.counts.Held.Add(1)
		return AccessUnit{}, false
	}
	u := AccessUnit{Codec: b.codec, RandomAccess: random}
	if random {
		b.skipLead = pic.mayLead && (b.damaged || !b.started)
		b.damaged, b.recovering = false, pic.recovery
		prefix, changed := b.params.prefix()
		u.NewStream = changed || !b.started
		b.started = true
		u.Data = annexB(b.codec, prefix, c.nalus, b.params)
	} else {
		u.Data = annexB(b.codec, nil, c.nalus, nil)
	}
	u.Damaged = b.damaged || b.recovering > 0 || b.skipLead && pic.leadingOnly
	if b.recovering > 0 {
		b.recovering--
	}
	u.Width, u.Height = b.params.width, b.params.height
	u.Time = b.time(c)
	return u, true
}

func (b *Builder) buildJPEG(c Coded) (AccessUnit, bool) {
	w, h, ok := jpegSize(c.jpeg)
	if !ok || c.broken {
		b.counts.Held.Add(1)
		return AccessUnit{}, false
	}
	b.damaged = false // every picture stands alone
	u := AccessUnit{Codec: MJPEG, Data: c.jpeg, RandomAccess: true, NewStream: !b.started || w != b.sizeW ||
		h != b.sizeH, Width: w, Height: h}
	b.started, b.sizeW, b.sizeH = true, w, h
	u.Time = b.time(c)
	return u, true
}

// time places the picture. The parameter sets say whether B-frames may occur; many cameras allow
// them and never send one.
func (b *Builder) time(c Coded) time.Time {
	reorder := b.codec != MJPEG && b.params.reorder && b.noReorder < learnAfter
	if int32(c.RTP-b.lastRTP) > 0 {
		b.noReorder++
	} else if b.noReorder < learnAfter {
		b.noReorder = 0
	}
	b.lastRTP = c.RTP
	before, again := b.timeline.Faults()
	at := b.timeline.Place(c.RTP, c.arrival, reorder, c.step)
	clamped, reanchored := b.timeline.Faults()
	b.counts.Clamped.Add(clamped - before)
	b.counts.Reanchored.Add(reanchored - again)
	return time.Unix(0, at).UTC()
}

// annexB joins NAL units. Access unit delimiters are dropped, and parameter sets too if sets is
// given: they are in the prefix.
func annexB(codec Codec, prefix []byte, nalus [][]byte, sets *params) []byte {
	size := len(prefix)
	for _, n := range nalus {
		size += 4 + len(n)
	}
	out := make([]byte, 0, size)
	out = append(out, prefix...)
	for _, n := range nalus {
		if len(n) == 0 || delimiter(codec, n[0]) {
			continue
		}
		if sets != nil {
			if k, ok := sets.key(n); ok && bytes.Equal(sets.sets[k], n) {
				continue
			}
		}
		out = append(append(out, 0, 0, 0, 1), n...)
	}
	return out
}

func delimiter(codec Codec, first byte) bool {
	if codec == H264 {
		return h264.NALUType(first&0x1F) == h264.NALUTypeAccessUnitDelimiter
	}
	return first>>1&0x3F == 35
}
