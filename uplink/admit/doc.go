// Package admit bounds what those may cost a server who have not shown yet who they are: how many
// connections there are, in all and from one address, how many requests they have at a time, how
// much these may hold, and how slowly a body may come. Both programs serve behind it.
//
//	l := admit.New(listener, admit.Options{Total: 1024, PerAddress: 512})
//	s := &http.Server{Handler: admit.Bodies(handler)}
//	l.Attach(s)
//	err := s.Serve(l)
//
// A connection is a stranger's until a handler says Known, which it does when a token or a session
// was good, and again from the next request on. Where there is no room, connections without a
// request go first, those that never were known before others, the longest idle first, and then
// strangers who had time to show who they are: those that never were known, of the address that
// has most of them, the oldest. Who is known is never cut off to make room. Where nobody may go
// yet, a new connection waits unserved for its turn.
package admit
