// Package client calls the service's interface: it reports events, and lists events, cameras and
// types and fetches images. The reporter drains the outbox through it; the commands of vmsbridge
// ask a running bridge or the service; the service asks bridges, through their tunnels too. What is
// not the interface (control sockets, health checks, sign-in) goes other ways.
//
// Nothing counts as the service's acceptance of an event but a 2xx answer whose body is that very
// event: a captive portal's page, a proxy's greeting or half an answer leaves it where it was.
// Errors say what to do about them, see RefusedError, UnauthorizedError, ForbiddenError and
// TransientError; classify is the one place that decides.
//
// The token goes to the configured host only: redirects are never followed. It is read by
// Options.Token, kept until the service answers 401, then read again, and appears in no error and
// no log.
//
//	c, err := client.New(client.Options{BaseURL: "https://vms.example",
//		Token: client.TokenFile("/etc/vmsbridge/token")})
//	err = c.Report(ctx, ev)
package client
