// Package supervisor keeps workers running: the bridge's cameras, the sinks of its events, its
// decoder processes. A worker that ends or panics is made anew after a pause of its own, so that
// one worker's trouble costs the others nothing. When the configuration changes, only the workers
// are replaced whose part of it changed.
//
//	s := supervisor.New[*pipeline.Pipeline](supervisor.Options{Label: "camera", Log: log, Restarts: restarts})
//	err := s.Set(tasks) // before Run
//	go s.Run(ctx)
//	change, err := s.Apply(ctx, changed) // while it runs
//
// Caught and Backoff are its parts, for what is restarted by its users instead of by a goroutine
// here: a decoder process starts with the next access unit that needs one.
package supervisor
