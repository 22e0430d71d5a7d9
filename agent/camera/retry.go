package camera

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
)

// How long to wait between attempts.
const (
	retryFirst   = time.Second
	retryLast    = 30 * time.Second
	retryFresh   = 4 * time.Second // the longest wait in the first minute of an outage: a booting camera is back soon
	freshFor     = time.Minute
	goodSession  = 10 * time.Second // a session that was online so long ends a series of failures
	knockEvery   = 2 * time.Second  // how often an unreachable camera's port is tried
	knockTimeout = 2 * time.Second
)

// retrySignIn are the waits after wrong credentials. Cameras lock an account after a few wrong
// attempts within minutes.
var retrySignIn = []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute}

// retry decides how long to wait after a failure. The zero value is ready.
type retry struct {
	failures int       // in this series
	began    time.Time // of this series
	state    State     // of the last failure
}

// next returns the wait after a failure of a session that was online for so long.
func (r *retry) next(f *Failure, online time.Duration, now time.Time) time.Duration {
	slow := f.State == InvalidCredentials || f.State == InsecureSignIn
	if online >= goodSession || slow != (r.state == InvalidCredentials || r.state == InsecureSignIn) {
		r.failures = 0
	}
	r.state = f.State
	if r.failures == 0 {
		r.began = now
	}
	r.failures++
	if slow {
		d := retrySignIn[min(r.failures, len(retrySignIn))-1]
		return d + time.Duration(rand.Int64N(int64(d)/5))
	}
	if f.immediate && r.failures == 1 {
		return time.Duration(rand.Int64N(int64(300 * time.Millisecond)))
	}
	d := min(retryFirst<<min(r.failures-1, 5), retryLast*87/100) // room for the jitter
	if now.Sub(r.began) < freshFor {
		d = min(d, retryFresh)
	}
	d = d*85/100 + time.Duration(rand.Int64N(int64(d)*30/100)) // ± 15 %, so that cameras do not come in step
	return min(max(d, retryFirst), retryLast)
}

// returned starts a new series: the camera's port answers again.
func (r *retry) returned() { *r = retry{} }

// pause waits. While a camera is unreachable, its port is tried now and then; when it answers,
// pause ends early and says so.
func pause(ctx context.Context, d time.Duration, knock string) (answered bool) {
	end := time.NewTimer(d)
	defer end.Stop()
	if knock == "" {
		select {
		case <-ctx.Done():
		case <-end.C:
		}
		return false
	}
	tick := time.NewTicker(knockEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-end.C:
			return false
		case <-tick.C:
			nd := net.Dialer{Timeout: knockTimeout}
			if c, err := nd.DialContext(ctx, "tcp", knock); err == nil {
				_ = c.Close()
				return true
			}
		}
	}
}

// hostPort is the address of a URL, with the default port of its scheme.
func hostPort(u *base.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"rtsp": "554", "rtsps": "322"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
