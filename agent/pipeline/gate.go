package pipeline

import (
	"bytes"
	"iter"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
)

const (
	maxGroup     = 4500 * time.Millisecond // between two keyframes; the watch for tampering must see one
	maxGateBytes = 1 << 20                 // that are held of a camera
	gateTwice    = 10 * time.Second        // between two openings, after which nothing is held for gateCalm
	gateCalm     = 2 * time.Second         // for which nothing may have moved
	learnTime    = 10 * time.Second        // of quiet groups, before sizes say anything
	// standEvery is how often the detector is told that the picture stands.
	standEvery = 240 * time.Millisecond
)

// gate decides which groups of pictures stay undecoded. Every keyframe is decoded and compared with
// the one before; the sizes of the pictures between are compared with those of quiet groups. It
// holds a group only in a stream in which something small has to show in a size; a group that is
// held can be decoded later, from its keyframe. Its zero value decodes all.
type gate struct {
	enabled bool
	economy bool // sizes say nothing: only what keyframes show counts
	sizes   sizes
	view    sameView
	learned time.Duration // of quiet groups

	// The group that is being received.
	units  []camera.AccessUnit // held: the keyframe, which is decoded, and what follows
	bytes  int
	looked int // so many of units have been looked at
	luma   codec.Picture
	key    time.Time // of its keyframe
	ends   time.Time // of its newest picture
	lens   []int     // bytes of its pictures, without the keyframe
	quiet  bool      // as far as it has come
	length time.Duration
	alike  bool // the newest two keyframes, in that the group between them was quiet

	calm   time.Time // since when nothing moves; zero: something does
	opened time.Time // when a group was last not held to its end
	why    Whole     // why the group is not held; "": it is
}

// holds tells whether the present group stays undecoded so far.
func (g *gate) holds() bool { return len(g.units) > 0 }

// saw takes what a picture that was looked at showed.
func (g *gate) saw(t time.Time, moves bool) {
	switch {
	case moves:
		g.calm, g.quiet = time.Time{}, false
	case g.calm.IsZero():
		g.calm = t
	}
}

// follows takes a picture that is decoded, and no keyframe.
func (g *gate) follows(u camera.AccessUnit) {
	g.lens = append(g.lens, size(u))
	g.ends = u.Time
	g.quiet = g.quiet && !u.Damaged && len(g.lens) < maxQueuedUnits
}

// hold takes a picture behind the keyframe of a held group, or tells why it is not to stay
// undecoded; "": it does.
func (g *gate) hold(u camera.AccessUnit) Whole {
	bytes := size(u)
	switch step := u.Time.Sub(g.ends); {
	case u.Damaged || step <= 0 || step > time.Second:
		return Damaged
	case u.Time.Sub(g.key) > maxGroup, g.bytes+len(u.Data) > maxGateBytes:
		return LongGroup
	case !g.economy && !g.sizes.fits(len(g.lens), bytes):
		return Resized
	}
	g.units = append(g.units, u)
	g.bytes += len(u.Data)
	g.lens = append(g.lens, bytes)
	g.ends = u.Time
	return ""
}

// ended learns from the group before the keyframe u, which has come.
func (g *gate) ended(u camera.AccessUnit) {
	g.alike = false
	length := u.Time.Sub(g.key)
	if !g.key.IsZero() && length > 0 && length <= 2*maxGroup {
		g.length = length
		if g.quiet && len(g.lens) > 0 && u.Time.Sub(g.ends) < time.Second {
			g.learned = min(g.learned+length, time.Hour)
			g.sizes.learn(g.lens, (u.Width+15)/16*((u.Height+15)/16))
			g.alike = true
		}
	} else {
		g.length = 0
	}
	g.lens = g.lens[:0]
	g.key, g.ends, g.quiet = u.Time, u.Time, !u.Damaged
}

// begins takes the keyframe u, which was decoded to pictures, and tells whether its group is to be
// held as far as sizes allow. stills is how often stills are kept; same, whether the keyframe shows
// what the one before showed.
func (g *gate) begins(u camera.AccessUnit, pictures []codec.Picture, same bool, stills time.Duration) bool {
	switch {
	case !g.enabled:
		g.why = Off
	case u.Codec == camera.MJPEG:
		g.why = Alone
	case !renews(u):
		g.why = NoIDR
	case !whole(u, pictures):
		g.why = Reordered
	case g.length > maxGroup:
		g.why = LongGroup
	case u.Damaged:
		g.why = Damaged
	case g.sizes.noisy && !g.economy:
		g.why = Noise
	case g.calm.IsZero() || u.Time.Sub(g.calm) < gateCalm:
		g.why = Moves
	case len(g.sizes.groups) < enoughGroups || g.learned < learnTime:
		g.why = Learning
	case !g.sizes.steady && !g.economy:
		g.why = Noise
	case stills < g.length:
		g.why = Watched
	case !g.view.steady():
		g.why = Restless
	case !same:
		g.why = Differs
	default:
		g.why = ""
	}
	if g.why != "" {
		return false
	}
	g.units, g.bytes, g.looked = append(g.units[:0], u), len(u.Data), 1
	p := pictures[0]
	p.Luma = append(g.luma.Luma[:0], p.Luma...)
	g.luma = p
	return true
}

// opens ends holding, and says why. Who opens it twice within a short time has it closed for a
// while.
func (g *gate) opens(why Whole) {
	clear(g.units)
	g.units, g.bytes, g.looked, g.why = g.units[:0], 0, 0, why
	if g.ends.Sub(g.opened) < gateTwice {
		g.calm = time.Time{}
	}
	g.opened = g.ends
}

// whole tells whether a keyframe's one picture came out of the decoder at once, with its luma.
func whole(u camera.AccessUnit, pictures []codec.Picture) bool {
	return len(pictures) == 1 && pictures[0].PTS == u.Time.UnixMicro() && len(pictures[0].Luma) > 0
}

// renews tells whether nothing behind a unit refers to what was before it: its first slice is of an
// IDR picture.
func renews(u camera.AccessUnit) bool {
	for n := range coded(u) {
		switch {
		case !u.RandomAccess:
			return false
		case u.Codec == camera.H264:
			return n[0]&0x1F == 5
		default:
			return n[0]>>1&0x3F == 19 || n[0]>>1&0x3F == 20
		}
	}
	return false
}

// size is how many bytes of a unit are coded picture: an encoder fills up what a constant rate
// leaves over, in units and messages of their own.
func size(u camera.AccessUnit) (bytes int) {
	for n := range coded(u) {
		bytes += len(n)
	}
	return bytes
}

// coded walks over the slices of a unit of H.264 or H.265.
func coded(u camera.AccessUnit) iter.Seq[[]byte] {
	start := []byte{0, 0, 0, 1}
	return func(yield func([]byte) bool) {
		for nalu := range bytes.SplitSeq(u.Data, start) {
			if len(nalu) == 0 || u.Codec == camera.MJPEG {
				continue
			}
			kind := nalu[0] >> 1 & 0x3F
			slice := kind <= 31
			if u.Codec == camera.H264 {
				kind = nalu[0] & 0x1F
				slice = kind >= 1 && kind <= 5
			}
			if slice && !yield(nalu) {
				return
			}
		}
	}
}

// learns takes what the newest two keyframes differ by for noise, if nothing moved between them.
func (g *gate) learns() {
	if g.alike && !g.calm.IsZero() {
		g.view.learn()
	}
}
