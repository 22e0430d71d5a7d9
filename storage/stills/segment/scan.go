package segment

import (
	"errors"
	"io"
)

// Scan is what reading a segment's records found.
type Scan struct {
	end     uint32 // behind the last record whose header is good; the next one may be written there
	records int
	Damaged int    // records with a good header and a bad body, but for those at the end
	Skipped uint32 // bytes between records that belong to none
	Torn    int    // bad bodies at the end: what a power cut leaves of stills not yet flushed
	Err     error  // first trouble of the device
	Bad     []Span // what is damaged, skipped or torn
}

// Span is a stretch of a segment.
type Span struct{ From, To uint32 }

// miss notes a stretch without a good record.
func (s *Scan) miss(from, to uint32) {
	if n := len(s.Bad); n > 0 && s.Bad[n-1].To == from {
		s.Bad[n-1].To = to
		return
	}
	s.Bad = append(s.Bad, Span{from, to})
}

// Records reads the records up to limit and calls each with every good one, in order of their
// places; the slices are valid until it returns. Where no good header is, it looks for the next one
// at every eighth byte, so that damage costs the records that it hit. It ends at the last good
// header.
func Records(f io.ReaderAt, salt uint64, limit uint32, each func(r Record, at uint32, camera, body []byte)) Scan {
	s := Scan{end: BlockBytes}
	w := window{f: f, limit: limit}
	var buf []byte
	for at := uint32(BlockBytes); ; {
		r, next, ok := w.find(at, salt)
		s.Err = errors.Join(s.Err, w.takeErr())
		if !ok {
			return s
		}
		if next > at {
			s.Skipped += next - at
			s.miss(at, next)
		}
		at, s.end = min(next+r.Size(), limit), min(next+r.Size(), limit)
		if r.Type == TypeSkip {
			continue // it tells nothing of those before it: it ends a flush
		}
		if cap(buf) < int(r.Length) {
			buf = make([]byte, r.Length)
		}
		buf = buf[:r.Length]
		_, err := f.ReadAt(buf, int64(next)+RecordHead)
		if err != nil && !errors.Is(err, io.EOF) && s.Err == nil {
			s.Err = err
		}
		camera, body, perr := r.Payload(buf)
		if err == nil && perr == nil {
			s.Damaged += s.Torn
			s.Torn = 0
			s.records++
			each(r, next, camera, body)
		} else {
			s.Torn++
			s.miss(next, at)
		}
	}
}

// Heal marks what a crash left of records as holding nothing, so that it is not taken for damage
// from now on.
func Heal(f io.WriterAt, salt uint64, bad []Span) error {
	for _, b := range bad {
		if b.To-b.From < RecordHead {
			continue // no record is that small, so no crash leaves it
		}
		var p [RecordHead]byte
		SkipRecord(b.To-b.From).Encode(p[:], salt, b.From)
		if _, err := f.WriteAt(p[:], int64(b.From)); err != nil {
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
	head  [RecordHead]byte
	buf   []byte
	err   error
}

func (w *window) takeErr() error {
	err := w.err
	w.err = nil
	return err
}

// find is the first record header at or behind at.
func (w *window) find(at uint32, salt uint64) (Record, uint32, bool) {
	if at+RecordHead > w.limit {
		return Record{}, 0, false
	}
	if _, err := w.f.ReadAt(w.head[:], int64(at)); err == nil {
		if r, err := DecodeRecord(w.head[:], salt, at, w.limit); err == nil {
			return r, at, true
		}
	}
	if w.buf == nil {
		w.buf = make([]byte, windowBytes)
	}
	for ; at+RecordHead <= w.limit; at += windowBytes - RecordHead {
		p := w.buf[:min(windowBytes, w.limit-at)]
		n, err := w.f.ReadAt(p, int64(at))
		if err != nil && !errors.Is(err, io.EOF) && w.err == nil {
			w.err = err
		}
		p = p[:n]
		for i := 0; i+RecordHead <= len(p); i += Align {
			if !Begins(p[i:]) {
				continue
			}
			if r, err := DecodeRecord(p[i:], salt, at+uint32(i), w.limit); err == nil {
				return r, at + uint32(i), true
			}
		}
	}
	return Record{}, 0, false
}
