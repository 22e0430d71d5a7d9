package stills

import (
	"errors"
	"io"
)

// scan is what reading a segment's records found.
type scan struct {
	end     uint32 // behind the last record whose header is good; the next one may be written there
	records int
	damaged int    // records with a good header and a bad body, but for those at the end
	skipped uint32 // bytes between records that belong to none
	torn    int    // bad bodies at the end: what a power cut leaves of stills not yet flushed
	err     error  // first trouble of the device
	bad     []span // what is damaged, skipped or torn
}

// span is a stretch of a segment.
type span struct{ from, to uint32 }

// miss notes a stretch without a good record.
func (s *scan) miss(from, to uint32) {
	if n := len(s.bad); n > 0 && s.bad[n-1].to == from {
		s.bad[n-1].to = to
		return
	}
	s.bad = append(s.bad, span{from, to})
}

// scanRecords reads the records up to limit and calls each with every good one, in order of their places; the slices are
// valid until it returns. Where no good header is, it looks for the next one at every eighth byte, so that damage costs
// the records that it hit. It ends at the last good header.
func scanRecords(f io.ReaderAt, salt uint64, limit uint32, each func(r record, at uint32, camera, body []byte)) scan {
	s := scan{end: blockBytes}
	w := window{f: f, limit: limit}
	var buf []byte
	for at := uint32(blockBytes); ; {
		r, next, ok := w.find(at, salt)
		s.err = errors.Join(s.err, w.takeErr())
		if !ok {
			return s
		}
		if next > at {
			s.skipped += next - at
			s.miss(at, next)
		}
		at, s.end = min(next+r.size(), limit), min(next+r.size(), limit)
		if r.kind == typeSkip {
			continue // it tells nothing of those before it: it ends a flush
		}
		if cap(buf) < int(r.length) {
			buf = make([]byte, r.length)
		}
		buf = buf[:r.length]
		_, err := f.ReadAt(buf, int64(next)+recordHead)
		if err != nil && !errors.Is(err, io.EOF) && s.err == nil {
			s.err = err
		}
		camera, body, perr := r.payload(buf)
		if err == nil && perr == nil {
			s.damaged += s.torn
			s.torn = 0
			s.records++
			each(r, next, camera, body)
		} else {
			s.torn++
			s.miss(next, at)
		}
	}
}

// heal marks what a crash left of records as holding nothing, so that it is not taken for damage from now on.
func heal(f io.WriterAt, salt uint64, bad []span) error {
	for _, b := range bad {
		if b.to-b.from < recordHead {
			continue // no record is that small, so no crash leaves it
		}
		var p [recordHead]byte
		skipRecord(b.to-b.from).encode(p[:], salt, b.from)
		if _, err := f.WriteAt(p[:], int64(b.from)); err != nil {
			return err
		}
	}
	return nil
}

// windowBytes is how much is read at a time in search of a header.
const windowBytes = 64 << 10

// window reads a file's headers, and where there is none, larger pieces.
type window struct {
	f     io.ReaderAt
	limit uint32
	head  [recordHead]byte
	buf   []byte
	err   error
}

func (w *window) takeErr() error {
	err := w.err
	w.err = nil
	return err
}

// find is the first record header at or behind at.
func (w *window) find(at uint32, salt uint64) (record, uint32, bool) {
	if at+recordHead > w.limit {
		return record{}, 0, false
	}
	if _, err := w.f.ReadAt(w.head[:], int64(at)); err == nil {
		if r, err := decodeRecord(w.head[:], salt, at, w.limit); err == nil {
			return r, at, true
		}
	}
	if w.buf == nil {
		w.buf = make([]byte, windowBytes)
	}
	for ; at+recordHead <= w.limit; at += windowBytes - recordHead {
		p := w.buf[:min(windowBytes, w.limit-at)]
		n, err := w.f.ReadAt(p, int64(at))
		if err != nil && !errors.Is(err, io.EOF) && w.err == nil {
			w.err = err
		}
		p = p[:n]
		for i := 0; i+recordHead <= len(p); i += align {
			if !begins(p[i:]) {
				continue
			}
			if r, err := decodeRecord(p[i:], salt, at+uint32(i), w.limit); err == nil {
				return r, at + uint32(i), true
			}
		}
	}
	return record{}, 0, false
}
