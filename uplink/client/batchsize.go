package client

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// batchSize is how many events go in a request: as many as the service takes, and on a slow link as
// many as arrive in time. Safe for concurrent use.
type batchSize struct {
	most atomic.Int64 // what the last registration's answer said; 0: nothing
	now  atomic.Int64 // 0: as many as that
}

func (b *batchSize) size() int {
	most := max(1, b.most.Load())
	if now := b.now.Load(); now > 0 {
		return int(min(now, most))
	}
	return int(most)
}

// learn takes in how a request with n events went that may take so long: one that did not make it
// is followed by a quarter, and one that was quick and full by twice as many.
func (b *batchSize) learn(n int, took, may time.Duration, err error) {
	now := b.now.Load()
	var late net.Error
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial": // nothing was sent
	case errors.As(err, &late) && late.Timeout():
		b.now.CompareAndSwap(now, int64(max(1, n/4))) // of several that went at once the first one counts
	case err == nil && now > 0 && n >= int(now) && took < may/4:
		b.now.CompareAndSwap(now, min(2*now, maxAtOnce))
	}
}
