package notify

import (
	"context"
	"slices"
	"sync"
	"time"
)

// job is a message that waits.
type job struct {
	message Message
	tries   int       // that failed
	due     time.Time // not to be tried before
	expires time.Time // not to be tried after
}

// queue holds messages until they are due, the one that is due first before the others. Safe for
// concurrent use.
type queue struct {
	first    time.Duration
	capacity int

	mu      sync.Mutex // guards waiting
	waiting []job      // sorted by due
	wake    chan struct{}
}

func newQueue(o MailerOptions) *queue {
	return &queue{first: o.First, capacity: o.Capacity, wake: make(chan struct{}, 1)}
}

// put adds a message that is due at once.
func (q *queue) put(l Message, expires time.Time) error {
	q.mu.Lock()
	full := len(q.waiting) >= q.capacity
	if !full {
		q.insertLocked(job{message: l, due: time.Now(), expires: expires})
	}
	q.mu.Unlock()
	if full {
		return ErrFull
	}
	q.wakeOne()
	return nil
}

// again puts a message back that failed, to be tried after a pause. ok is false if it would be too
// late then.
func (q *queue) again(j job) (ok bool) {
	pause := longest
	if n := j.tries - 1; n < 10 {
		pause = min(longest, q.first<<max(n, 0))
	}
	j.due = time.Now().Add(pause)
	if j.due.After(j.expires) {
		return false
	}
	q.mu.Lock()
	q.insertLocked(j)
	q.mu.Unlock()
	q.wakeOne()
	return true
}

func (q *queue) insertLocked(j job) {
	at, _ := slices.BinarySearchFunc(q.waiting, j, func(a, b job) int {
		if a.due.After(b.due) {
			return 1
		}
		return -1 // of two that are due at once, the older stays in front
	})
	q.waiting = slices.Insert(q.waiting, at, j)
}

// wakeOne wakes one who waits in next.
func (q *queue) wakeOne() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next waits for a message that is due and takes it. ok is false once ctx is done.
func (q *queue) next(ctx context.Context) (j job, ok bool) {
	for ctx.Err() == nil {
		q.mu.Lock()
		pause := time.Hour
		if len(q.waiting) > 0 {
			if pause = time.Until(q.waiting[0].due); pause <= 0 {
				j = q.waiting[0]
				q.waiting = slices.Delete(q.waiting, 0, 1)
				more := len(q.waiting) > 0
				q.mu.Unlock()
				if more {
					q.wakeOne() // there may be another who waits, and one wake-up stands for several messages
				}
				return j, true
			}
		}
		q.mu.Unlock()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	return job{}, false
}

// remaining is how many messages wait: those that their sender has noted, and those that are lost
// with this queue.
func (q *queue) remaining() (noted, lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.waiting {
		if j.message.Seq != 0 {
			noted++
		} else {
			lost++
		}
	}
	return noted, lost
}
