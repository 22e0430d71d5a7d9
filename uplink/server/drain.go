package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

// ErrDraining is the cause with which the context of a stream or tunnel ends that Drain ends.
var ErrDraining = errors.New("this service is about to stop")

// connections are the requests that last until somebody ends them: streams and tunnels. The zero
// value has none.
type connections struct {
	mu       sync.Mutex // guards what follows
	draining bool
	ends     map[int]context.CancelCauseFunc // by numbers from 1 on
	last     int
}

// enter takes a request in; leave is called when it has ended. While the service drains the answer
// is 503, so that the client comes again, to another one.
func (k *connections) enter(r *http.Request) (in *http.Request, leave func(), err error) {
	ctx, end := context.WithCancelCause(r.Context())
	n := k.add(end)
	leave = func() { end(nil); k.remove(n) }
	if n == 0 {
		leave()
		return nil, nil, vms.NewError(http.StatusServiceUnavailable, vms.ReasonServiceUnavailable,
			"The service is about to stop; try again")
	}
	return r.WithContext(ctx), leave, nil
}

// add is the number of a request that end ends, 0 if none is taken in any more.
func (k *connections) add(end context.CancelCauseFunc) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.draining {
		return 0
	}
	if k.ends == nil {
		k.ends = map[int]context.CancelCauseFunc{}
	}
	k.last++
	k.ends[k.last] = end
	return k.last
}

func (k *connections) remove(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.ends, n)
}

// close takes no more requests in, and is the numbers of those that there are, in no order.
func (k *connections) close() (numbers []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.draining = true
	for n := range k.ends {
		numbers = append(numbers, n)
	}
	return numbers
}

// end is what ends a request, nil if it has ended.
func (k *connections) end(n int) context.CancelCauseFunc {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ends[n]
}

// notice is the part of Drain's time in which nothing is ended yet, for whoever spreads the clients
// must first see that this service is not ready: a fifth, 5 s at most.
func notice(within time.Duration) time.Duration { return min(within/5, 5*time.Second) }

// Drain answers new streams and tunnels with 503 and ends those that there are, none at first, then
// evenly, the last one when within is over: so that their clients do not open them elsewhere all at
// once. Other requests are served as before. It returns when none is left, or when ctx is done.
func (s *Server) Drain(ctx context.Context, within time.Duration) {
	numbers := s.connections.close()
	began, pause := time.Now(), notice(within)
	for i, n := range numbers {
		if s.connections.end(n) == nil {
			continue
		}
		sleep(ctx, time.Until(began.Add(pause+(within-pause)*time.Duration(i+1)/time.Duration(len(numbers)))))
		if ctx.Err() != nil {
			return
		}
		if end := s.connections.end(n); end != nil {
			end(ErrDraining)
		}
	}
}
