package codec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/worker"
)

// Decoder decodes one stream. One caller at a time, but Close may be called while another call
// runs.
type Decoder struct {
	pool       *Pool
	owner      string
	format     Format
	lumaPixels int
	number     uint32

	lost    atomic.Bool // its process died and nobody has been told yet
	request []byte      // room for the next request; belongs to the caller
	reply   room        // for pictures, and those of the last call; belongs to the caller

	lumaFrom int64
	one      [1]Unit
	all      []Decoded // of the last call
	decoded  *decoded  // nil before the first call; belongs to the caller

	group  *group             // guarded by pool.mu
	closed bool               // guarded by pool.mu
	spent  prometheus.Counter // its owner's; guarded by pool.mu; nil before the first call, as stage
	stage  prometheus.Gauge

	mu     sync.Mutex      // held during each call of direct, so that Close waits
	direct *engine.Decoder // with InProcess, once open
}

// Decode feeds one access unit, Annex B with parameter sets in-band or a whole JPEG, and answers
// the pictures that came out: none to several, in presentation order. pts is any number; it comes
// back with its picture. au is not kept; the pictures' luma may be overwritten by the next call of
// Decode or Flush. It blocks until the process has answered or ctx is done;
// in the latter case the access unit may still be decoded, and its pictures are dropped. (With
// InProcess a call that runs is not cut short.)
//
// Errors: ErrLost: all is as after Open, feed from a keyframe. *UnsupportedError: what to install.
// ErrClosed, ctx's error. Any other: this access unit was not decodable, feed on; pictures that
// were ready come with the next call.
func (d *Decoder) Decode(ctx context.Context, au []byte, pts int64) ([]Picture, error) {
	d.one[0] = Unit{Data: au, PTS: pts, LumaFrom: d.lumaFrom}
	all := d.DecodeAll(ctx, d.one[:])
	d.one[0].Data = nil
	return all[0].Pictures, all[0].Err
}

// Unit is an access unit that is to be decoded with others. Pictures before LumaFrom come without
// luma.
type Unit struct {
	Data          []byte
	PTS, LumaFrom int64
}

// Decoded is what came of a unit.
type Decoded struct {
	Pictures []Picture
	Err      error
}

// DecodeAll is Decode of units that follow each other: the process is woken once for all of them,
// which costs less than a call for each. It takes at least the first, and as many more as it can
// have on the way at once, and says what came of each; that is valid until the next call. Still has
// pictures of no more than the last Kept.
func (d *Decoder) DecodeAll(ctx context.Context, units []Unit) []Decoded {
	units = units[:together(units)]
	start := time.Now()
	d.all = d.decodeAll(ctx, units, d.all[:0])
	if d.decoded == nil {
		d.decoded = d.pool.metrics.of(d.format)
	}
	for _, o := range d.all {
		d.decoded.note(time.Since(start), len(o.Pictures), o.Err)
	}
	return d.all
}

// MaxTogether is how many units DecodeAll takes at most: Still has all their pictures.
const MaxTogether = Kept - 1

// togetherBytes is what a pipe takes of requests without waiting for its reader, in any kernel.
const togetherBytes = 32 << 10

// together is how many units can be on the way at once, at least one.
func together(units []Unit) int {
	bytes := 0
	for n, u := range units[:min(len(units), MaxTogether)] {
		if bytes += len(u.Data); bytes > togetherBytes || len(u.Data) == 0 {
			return max(n, 1)
		}
	}
	return min(len(units), MaxTogether)
}

func (d *Decoder) decodeAll(ctx context.Context, units []Unit, all []Decoded) []Decoded {
	if size := len(units[0].Data); size == 0 || size > worker.MaxAccessUnit {
		return append(all, Decoded{Err: fmt.Errorf("decode %s: an access unit of %d bytes is not within 1 to %d",
			d.format, size, worker.MaxAccessUnit)})
	}
	if d.pool.direct != nil {
		for _, u := range units {
			var o Decoded
			o.Err = d.directly(ctx, func(e *engine.Decoder) (err error) {
				e.LumaFrom(u.LumaFrom)
				o.Pictures, err = e.Decode(u.Data, u.PTS)
				return err
			})
			all = append(all, o)
		}
		return all
	}
	request := d.request[:0]
	for i, u := range units {
		ask := worker.AppendDecodeMore
		if i == 0 {
			ask = worker.AppendDecode
		}
		request = ask(request, d.number, u.Data, u.PTS, u.LumaFrom)
	}
	return d.call(ctx, call{kind: worker.Decode, request: request, count: len(units)}).decoded(len(units), all)
}

// LumaFrom has pictures before pts come without luma, which costs less, from the next Decode on. In
// the beginning all have it.
func (d *Decoder) LumaFrom(pts int64) { d.lumaFrom = pts }

// Wants reports whether the next access unit should be decoded now. It is asked before Decode, and
// says no while the camera has used up its share of decoding time: then only keyframes are wanted,
// and not all of them. After a no, the stream goes on at a keyframe.
func (d *Decoder) Wants(keyframe bool) bool {
	p := d.pool
	if p.direct != nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked(d.owner, keyframe)
	return p.shares.wants(d.owner, keyframe, time.Now())
}

// Flush ends the stream: pictures that were delayed come out, and the decoder is as new. Pictures
// that came out stay for Still. Errors as with Decode.
func (d *Decoder) Flush(ctx context.Context) ([]Picture, error) {
	if d.pool.direct != nil {
		var pictures []Picture
		err := d.directly(ctx, func(e *engine.Decoder) (err error) {
			pictures, err = e.Flush()
			return err
		})
		return pictures, err
	}
	a := d.call(ctx, call{kind: worker.Flush, request: worker.AppendFrame(d.request[:0], worker.Flush, d.number)})
	all := a.decoded(1, nil)
	return all[0].Pictures, all[0].Err
}

// Still is a JPEG of a picture that came out recently: at least the last Kept ones. It is
// shrunk to at most maxWidth pixels a row (0: full size), in the quality 1 to 100. An MJPEG
// camera's picture in full size is the camera's own JPEG, byte for byte. ErrGone: the picture is
// not kept, also when the process was lost; the next Decode will say that.
func (d *Decoder) Still(ctx context.Context, pts int64, maxWidth, quality int) ([]byte, error) {
	if d.pool.direct != nil {
		var still []byte
		err := d.directly(ctx, func(e *engine.Decoder) (err error) {
			still, err = e.Still(pts, maxWidth, quality)
			return err
		})
		return still, err
	}
	a := d.call(ctx, call{kind: worker.Still,
		request: worker.AppendStill(d.request[:0], d.number, pts, maxWidth, quality)})
	if errors.Is(a.err, ErrLost) {
		return nil, fmt.Errorf("%w: %v", ErrGone, a.err)
	}
	return a.still, a.err
}

// Close gives back what the decoder holds. It does not block on a process.
func (d *Decoder) Close() {
	d.pool.leave(d)
	if d.pool.direct == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.direct != nil {
		d.direct.Close()
		d.direct = nil
	}
}

// directly runs f on the decoder in this process.
func (d *Decoder) directly(ctx context.Context, f func(*engine.Decoder) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("decode %s: %w", d.format, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isClosed() {
		return ErrClosed
	}
	if d.direct == nil {
		e, err := d.pool.direct.Open(d.format, d.lumaPixels)
		if err != nil {
			return err
		}
		d.direct = e
	}
	return f(d.direct)
}

func (d *Decoder) isClosed() bool {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return d.closed || d.pool.closed
}

// call does c. The requests' bytes and the room for the replies are the group's until the answer
// comes.
func (d *Decoder) call(ctx context.Context, c call) answer {
	c.decoder, d.request = d, nil
	if err := ctx.Err(); err != nil {
		return answer{err: fmt.Errorf("decode %s: %w", d.format, err)}
	}
	g, err := d.pool.groupOf(d)
	if err != nil {
		return answer{err: err}
	}
	if !g.take(ctx) {
		switch {
		case ctx.Err() != nil:
			return answer{err: fmt.Errorf("decode %s: %w", d.format, ctx.Err())}
		case !d.isClosed():
			return answer{err: fmt.Errorf("%w: its camera was given another process", ErrLost)}
		}
		return answer{err: ErrClosed}
	}
	if c.kind != worker.Still { // whose JPEG is the caller's own
		c.room, d.reply = d.reply, room{}
	}
	a := g.do(ctx, c)
	if a.err != nil && ctx.Err() != nil && errors.Is(a.err, ctx.Err()) {
		return answer{err: fmt.Errorf("decode %s: %w", d.format, a.err)}
	}
	d.request = keep(c.request)
	if c.kind != worker.Still {
		d.reply = room{piped: keep(a.room.piped), placed: keep(a.room.placed)}
		if len(a.room.placed) > 0 && cap(d.reply.piped) > leastRoom {
			d.reply.piped = nil // that was for a stream's first pictures
		}
		if errors.Is(a.err, ErrLost) {
			d.lost.Store(false) // now it is told
		}
	}
	return a
}

// keep is b, to be used again, unless it is so large that keeping it would be a waste.
func keep(b []byte) []byte {
	if cap(b) > 1<<20 {
		return nil
	}
	return b[:0]
}
