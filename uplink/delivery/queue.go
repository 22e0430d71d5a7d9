package delivery

import (
	"math"
	"slices"
)

// key names what a lane serves: the events of one lane in one of the two streams.
type key struct {
	lane  string
	fresh bool // those that go ahead of a backlog
}

// stream is a part of the store by places: what was read of it and waits for a lane, for each actor
// in order. Only places are kept, eight bytes an event.
type stream struct {
	after uint64 // read up to this place
	more  bool   // there may be more behind it
	lines map[string][]uint64
	turns []string // actors with a line, in the order in which they are served
	size  int      // places in all lines
}

func newStream(after uint64) *stream {
	return &stream{after: after, more: true, lines: map[string][]uint64{}}
}

// add puts a place behind the others of its actor.
func (s *stream) add(actor string, place uint64) {
	line, ok := s.lines[actor]
	if !ok {
		s.turns = append(s.turns, actor)
	}
	s.lines[actor] = append(line, place)
	s.size++
}

// giveBack puts a place where it belongs among those of its actor.
func (s *stream) giveBack(actor string, place uint64) {
	line, ok := s.lines[actor]
	if !ok {
		s.turns = append(s.turns, actor)
	}
	i, found := slices.BinarySearch(line, place)
	if found {
		return
	}
	s.lines[actor] = slices.Insert(line, i, place)
	s.size++
}

// take removes up to n of the first places of an actor.
func (s *stream) take(actor string, n int) []uint64 {
	line := s.lines[actor]
	taken := line[:min(n, len(line))]
	if rest := line[len(taken):]; len(rest) > 0 {
		s.lines[actor] = rest
	} else {
		delete(s.lines, actor)
		s.turns = slices.DeleteFunc(s.turns, func(a string) bool { return a == actor })
	}
	s.size -= len(taken)
	return taken
}

// next is the actor whose turn it is among those that may be served, and puts it last; skip passes
// over so many others.
func (s *stream) next(skip int, may func(actor string) bool) (string, bool) {
	var able []int
	for i, actor := range s.turns {
		if may(actor) {
			if able = append(able, i); len(able) > skip {
				break
			}
		}
	}
	if len(able) == 0 {
		return "", false
	}
	i := able[skip%len(able)]
	actor := s.turns[i]
	s.turns = append(slices.Delete(s.turns, i, i+1), actor)
	return actor, true
}

// drained says whether nothing up to a place waits in it, but for actors that rest.
func (s *stream) drained(upTo uint64, rests func(actor string) bool) bool {
	if s.more && s.after < upTo {
		return false
	}
	for actor, line := range s.lines {
		if line[0] <= upTo && !rests(actor) {
			return false
		}
	}
	return true
}

// ahead counts what waits in it up to a place, without actors that rest. It counts much if not all
// of that was read.
func (s *stream) ahead(upTo uint64, rests func(actor string) bool) (n int) {
	if s.more && s.after < upTo {
		return math.MaxInt
	}
	for actor, line := range s.lines {
		if rests(actor) {
			continue
		}
		i, found := slices.BinarySearch(line, upTo)
		if n += i; found {
			n++
		}
	}
	return n
}

// cut forgets the places behind a boundary and reads no further than it.
func (s *stream) cut(boundary uint64) {
	for actor, line := range s.lines {
		i, found := slices.BinarySearch(line, boundary)
		if found {
			i++
		}
		s.size -= len(line) - i
		if i > 0 {
			s.lines[actor] = line[:i:i]
		} else {
			delete(s.lines, actor)
			s.turns = slices.DeleteFunc(s.turns, func(a string) bool { return a == actor })
		}
	}
	s.after, s.more = min(s.after, boundary), s.more || s.after > boundary
}

// join puts a stream that follows this one behind it.
func (s *stream) join(next *stream) {
	for _, actor := range next.turns {
		for _, place := range next.lines[actor] {
			s.add(actor, place)
		}
	}
	s.after, s.more = next.after, next.more
}
