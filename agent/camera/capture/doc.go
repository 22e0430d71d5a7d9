// Package capture says when a camera's picture was taken. A camera's RTP time says precisely how
// far apart pictures are, and often lies about more; arrival says roughly when, by this machine's
// clock, which may be set at any moment. The Timeline of a stream makes one time of both for each
// picture, between the packets (agent/camera) and the access unit that is handed out; the Clock is
// what arrival is told by.
//
//	clock, line := capture.NewClock(nil), capture.NewTimeline(0)
//	arrival, step := clock.Now()
//	at := line.Place(packet.Timestamp, arrival, false, step) // ns since 1970
package capture
