// Package server answers the service's interface over HTTP: events, event types, recorded images,
// cameras, the user and the client settings. The bridge's local API and vmscloud are the same
// handler over different stores, so that a program written for the one works with the other.
//
// It stands between a client's request and the stores that Options names; the words of the
// interface (event, query, error body) come from uplink/vms, who asks from uplink/identity. It
// knows no store by name: storage/journal satisfies EventStore as it is.
//
//	h, err := server.New(server.Options{Events: journal, Cameras: cameras, Images: images, Auth: tokens,
//		NotFound: journal.ErrNotFound, BaseURL: "http://192.168.1.20:8480", Log: log})
//	mux.Handle("/api/", h)
//
// Decisions where the interface is silent:
//
//   - A request is checked in this order: the endpoint exists, its method, the token (401), unknown
//     arguments, missing ones, wrong values (400, each kind complete), permission (403), the actor
//     (404).
//   - A list needs actor (or actor__in), startTimestamp__gte and one of startTimestamp__lte and
//     endTimestamp__lte, as the public service does; type__in may be left out and then means all
//     types. An unknown type matches nothing.
//   - An actor that the token may not see is answered exactly as one that does not exist.
//   - A subscription (eventSubscriptions) is of the token that made it, whose bearer or signed
//     address (eventsource.go) its stream needs too, and is forgotten 15 minutes after its last
//     stream. One with a webhook is of the token's holder and stays until it is deleted.
//   - A tunnel (bridges:tunnel) is for a bridge that the token's account has registered: 409 for
//     any other, be it another account's or nobody's.
//   - Page tokens are signed: one that was not made here, or for another account, is a 400.
//   - A time in milliseconds means that whole millisecond when images are asked for, because that
//     is how their own times are printed: timestamp=T finds the image printed as T, timestamp__gt=T
//     the one after it.
package server
