// Package tunnel lets the service ask a bridge that no connection can be made to, because it sits
// behind NAT: the bridge dials out and serves HTTP through the connection that it made.
//
//	bridge: Dialer ──WebSocket, over the service's own host──▶ Hub: service
//	bridge: http.Handler ◀──HTTP/1.1 over yamux streams────── Hub.Transport
//
// The bridge runs a [Dialer] for as long as it is up; it dials again whenever the connection is
// lost. The service hands the requests for [Path] to a [Hub], after it has found out which bridge
// sends them, and then asks that bridge with an ordinary http.Client:
//
//	transport, ok := hub.Transport(bridgeID)
//	if !ok { … 503, the bridge is away … }
//	res, err := (&http.Client{Transport: transport}).Get("http://bridge/api/v3.0/…")
//
// The tunnel is a way, not a permission: the service's credentials for the bridge go through it as
// they would go through a direct connection, and the bridge's handler checks them.
//
// What is on the wire: a WebSocket (RFC 6455) of the subprotocol [Subprotocol], whose binary
// messages are a byte stream of yamux (github.com/hashicorp/yamux/blob/master/spec.md); the service
// opens the streams, each is an HTTP/1.1 connection.
package tunnel
