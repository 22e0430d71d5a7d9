package secret

import (
	"context"
	"sync"
)

// turnKey is the key of a turn in a context.
type turnKey struct{}

// turn is whose work it is.
type turn struct {
	line  string
	known bool
}

// WithTurn says whose work the hashes of a request are: those of one line, such as the address of a
// client, wait behind each other and not in front of other lines. Lines of who is known go first.
func WithTurn(ctx context.Context, line string, known bool) context.Context {
	return context.WithValue(ctx, turnKey{}, turn{line, known})
}

// turns hands out a few slots to many lines in turn, so that whoever asks a thousand times at once
// waits a thousand times and somebody else once. Safe for concurrent use.
type turns struct {
	mu    sync.Mutex // guards what follows
	free  int
	lines map[turn][]chan struct{}
	order [2][]turn // lines in which somebody waits: those of who is known, then the others
}

func newTurns(slots int) *turns {
	return &turns{free: slots, lines: map[turn][]chan struct{}{}}
}

// take waits for a slot. Whoever got one calls leave.
func (t *turns) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	of, _ := ctx.Value(turnKey{}).(turn)
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	if len(t.lines[of]) == 0 {
		t.order[of.rank()] = append(t.order[of.rank()], of)
	}
	t.lines[of] = append(t.lines[of], mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-mine:
		t.passOnLocked()
	default:
		t.giveUpLocked(of, mine)
	}
	return ctx.Err()
}

// leave gives a slot to whoever is next.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passOnLocked()
}

func (t *turns) passOnLocked() {
	for rank, order := range t.order {
		if len(order) == 0 {
			continue
		}
		of := order[0]
		line := t.lines[of]
		close(line[0])
		t.order[rank] = order[1:]
		if len(line) > 1 {
			t.lines[of], t.order[rank] = line[1:], append(t.order[rank], of)
		} else {
			delete(t.lines, of)
		}
		return
	}
	t.free++
}

// giveUpLocked takes out of a line who does not wait any longer.
func (t *turns) giveUpLocked(of turn, mine chan struct{}) {
	kept := t.lines[of][:0]
	for _, c := range t.lines[of] {
		if c != mine {
			kept = append(kept, c)
		}
	}
	if t.lines[of] = kept; len(kept) > 0 {
		return
	}
	delete(t.lines, of)
	rest := t.order[of.rank()][:0]
	for _, other := range t.order[of.rank()] {
		if other != of {
			rest = append(rest, other)
		}
	}
	t.order[of.rank()] = rest
}

func (t turn) rank() int {
	if t.known {
		return 0
	}
	return 1
}
