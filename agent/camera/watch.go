package camera

import (
	"context"
	"time"
)

// watch looks after a playing session until it fails or ctx ends; then it returns nil.
func (s *session) watch(ctx context.Context) *Failure {
	ended := make(chan error, 1)
	s.wg.Go(func() { ended <- s.client.Wait() }) // ends at the latest with close
	began := time.Now()
	tick := time.NewTimer(watchSoon)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case f := <-s.failed:
			return f
		case err := <-ended:
			if ctx.Err() != nil {
				return nil
			}
			select {
			case f := <-s.failed: // what ended it
				return f
			default:
			}
			return s.explain("stream", err)
		case <-tick.C:
			f, again := s.check(began)
			if f != nil {
				return f
			}
			tick.Reset(again)
		}
	}
}

// check notices a session that lives without giving pictures. An eager session takes a silence for
// the end that is three times longer than any before, but not before 4 s. again is when to look
// next: while all is well, not before the silence could be long enough, so that a camera that plays
// wakes the machine once a second and not ten times.
func (s *session) check(began time.Time) (f *Failure, again time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.t.StaleAfter
	if s.eager && s.longest > 0 && s.build.Started() {
		limit = min(limit, max(4*time.Second, 3*s.longest))
	}
	quiet := time.Since(s.lastAt)
	if quiet > limit {
		return s.silent(quiet), 0
	}
	switch {
	case !s.build.Started():
		return s.noKeyframe(time.Since(began), s.noKeyframeReason()), watchSoon
	case !s.badSince.IsZero():
		return s.noKeyframe(time.Since(s.badSince),
			"Pictures arrive damaged, and no keyframe repairs them. Use the tcp transport, and a keyframe interval "+
				"of 1 to 4 s in the camera."), watchSoon
	}
	return nil, min(max(limit-quiet, watchSoon), toSecond(time.Now()))
}

// toSecond is how long it is to the next full second, at least a tenth of one. What is done once a
// second for each camera is done then, so that the machine wakes once for all of them.
func toSecond(now time.Time) time.Duration {
	d := time.Second - time.Duration(now.Nanosecond())
	if d < watchSoon {
		d += time.Second
	}
	return d
}

// silent is the failure of a session from which nothing came for so long.
func (s *session) silent(quiet time.Duration) *Failure {
	if s.packets == 0 {
		return failf(Stale, nil, "The camera accepted the stream but sends nothing. Check its load and the "+
			"number of viewers it allows.")
	}
	if s.pictures == 0 && s.lastErr != "" {
		return failf(Stale, nil,
			"The camera sends packets that cannot be read (%s). Try another transport or codec.",
			s.t.clean(s.lastErr))
	}
	f := failf(Stale, nil, "No picture has come from the camera for %s. It is connected again.",
		quiet.Round(time.Second))
	f.immediate = true
	return f
}

// noKeyframe reports once that decoding cannot start, and gives the session up when it lasts.
func (s *session) noKeyframe(since time.Duration, reason string) *Failure {
	if since > 6*s.t.KeyframeAfter {
		return failf(NoKeyframe, nil, "%s", reason)
	}
	if since > s.t.KeyframeAfter && s.info.state != NoKeyframe {
		s.info.state, s.info.reason = NoKeyframe, reason
		s.onInfo(s.info)
	}
	return nil
}

func (s *session) noKeyframeReason() string {
	switch {
	case s.pictures == 0 && s.lastErr != "":
		return "The camera sends packets that cannot be read (" + s.t.clean(s.lastErr) +
			"). Try another transport or codec."
	case !s.build.Decodable():
		return "The camera never sends the parameters of its video (SPS, PPS). Restart it, or choose another " +
			"codec in it."
	}
	return "The camera sends video without keyframes. Set a keyframe (I-frame, GOP) interval of 1 to 4 s in it."
}
