// Package webhook posts events to addresses of the integrator's choice, signed. Each hook is a sink
// (uplink/delivery) with a cursor of its own: one that is dead, slow or wrong delays neither the
// service nor another hook.
//
// # A request
//
//	POST /the/hooks/path
//	Content-Type: application/json
//	Idempotency-Key: gate-2026-11-21T07:00:00.000+00:00-vms.motionDetectionEvent.v1.57
//	Vmsbridge-Bridge: bridge-1
//	Vmsbridge-Event-Type: vms.motionDetectionEvent.v1
//	Vmsbridge-Signature: t=1795244400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
//
//	{"type":"vms.motionDetectionEvent.v1","id":…}
//
// The body is the event as the service gets it, with its pictures as the hook wants them. t is the
// time of this request in seconds since 1970; v1 is the HMAC-SHA256, in hex digits, of t as it is
// written, a full stop, and the body's bytes, under the hook's secret. A receiver refuses a t more
// than five minutes from its clock, and a signature that it has seen in that time; so nothing that
// was overheard is of use twice. The key names the event and its revision: it stays the same when
// a request is made again, which has a new t and signature.
//
// # What an answer means
//
//	2xx                                   taken
//	400, 406, 411–418, 421–424, 426, …    refused for good: this event is left out, counted, and the reason shown
//	408, 409, 425, 5xx                    later: the events of this actor wait, others go on
//	429, 502, 503, 504, no answer         later: everything waits; Retry-After is heeded, up to an hour
//	301–308, 401, 403, 404, 405, 407, 410 the hook's address or secret is wrong: all waits, and a person is told
//
// A redirect is followed only to the same scheme, host and port, and only by 307 and 308, which
// keep the request as it is. An event that fails for ten minutes, five times just after others were
// taken, is left out too.
//
// Events of one actor arrive in order, and each at least once; only where all that waits is of one
// actor, and its first event has been answered by a 500 or the like for ten minutes, is the one
// behind it tried to find out whose fault it is. One that lags gets each event once, in its last
// form; one that is up to date gets a span when it begins and when it ends, unless it wants ended
// events only.
package webhook
