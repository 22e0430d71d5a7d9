package identity

import (
	"context"
	"sync"
)

// clientKey is the key of a turn in a context.
type clientKey struct{}

// client is whose work it is.
type client struct {
	address string
	known   bool
}

// WithClient says whose work the hashes of a request are: those of one line, such as the address of
// a client, wait behind each other and not in front of other lines. Lines of who is known go first.
func WithClient(ctx context.Context, line string, known bool) context.Context {
	return context.WithValue(ctx, clientKey{}, client{line, known})
}

// fairSlots hands out a few slots to many lines in turn, so that whoever asks a thousand times at
// once waits a thousand times and somebody else once. Safe for concurrent use.
type fairSlots struct {
	mu      sync.Mutex // guards what follows
	free    int
	waiting map[client][]chan struct{}
	order   [2][]client // lines in which somebody waits: those of who is known, then the others
}

func newFairSlots(slots int) *fairSlots {
	return &fairSlots{free: slots, waiting: map[client][]chan struct{}{}}
}

// acquire waits for a slot. Whoever got one calls leave.
func (t *fairSlots) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	of, _ := ctx.Value(clientKey{}).(client)
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	if len(t.waiting[of]) == 0 {
		t.order[of.rank()] = append(t.order[of.rank()], of)
	}
	t.waiting[of] = append(t.waiting[of], mine)
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
		t.handOverLocked()
	default:
		t.giveUpLocked(of, mine)
	}
	return ctx.Err()
}

// release gives a slot to whoever is next.
func (t *fairSlots) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handOverLocked()
}

func (t *fairSlots) handOverLocked() {
	for rank, order := range t.order {
		if len(order) == 0 {
			continue
		}
		of := order[0]
		line := t.waiting[of]
		close(line[0])
		t.order[rank] = order[1:]
		if len(line) > 1 {
			t.waiting[of], t.order[rank] = line[1:], append(t.order[rank], of)
		} else {
			delete(t.waiting, of)
		}
		return
	}
	t.free++
}

// giveUpLocked takes out of a line who does not wait any longer.
func (t *fairSlots) giveUpLocked(of client, mine chan struct{}) {
	kept := t.waiting[of][:0]
	for _, c := range t.waiting[of] {
		if c != mine {
			kept = append(kept, c)
		}
	}
	if t.waiting[of] = kept; len(kept) > 0 {
		return
	}
	delete(t.waiting, of)
	rest := t.order[of.rank()][:0]
	for _, other := range t.order[of.rank()] {
		if other != of {
			rest = append(rest, other)
		}
	}
	t.order[of.rank()] = rest
}

func (t client) rank() int {
	if t.known {
		return 0
	}
	return 1
}
