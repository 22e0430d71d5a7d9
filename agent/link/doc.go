// Package link is the bridge's link to the service. A Link registers the bridge and its cameras, lets the reporter (uplink/reporter) drain
// the journal's outbox once the service knows them and the time is true, and keeps the tunnel through which the service asks back. The Tie
// is its place in the running agent, which puts another one there when the configuration of the service changes.
//
//	tie := link.NewTie(func(s configs.Service, reg prometheus.Registerer) (*link.Link, error) {
//		return link.New(s, link.Options{Outbox: journal, Clock: clock, Profile: profile, Log: log, Registerer: reg})
//	})
//	err := tie.Begin(cfg.Service, openTunnel)
//	err = tie.Run(ctx)
package link
