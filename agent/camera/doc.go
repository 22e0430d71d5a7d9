// Package camera keeps one RTSP stream of one camera open and hands out its access units with their
// capture times.
//
// It is the first stage of the flow: camera stream → access unit → (agent/codec) picture → motion.
// It signs in, chooses the transport, receives, puts packets together to access units, places each
// on the wall clock, notices when the camera is gone, silent, broken or lying, says so in words
// that an installer can act on, and connects again. It never decodes a picture and never stores
// anything.
//
// What a camera sends is foreign: a malformed description, packet, parameter set or a timestamp
// from nowhere costs at most this stream a reconnect, never the process.
//
//	src, err := camera.New(camera.Config{Camera: "gate", Stream: "main",
//		URL: "rtsp://10.0.0.5/stream1", Username: "viewer", Password: pw}, log, metrics)
//	if err != nil {
//		return err
//	}
//	err = src.Run(ctx, camera.Handler{
//		OnUnit:   func(u camera.AccessUnit) { queue.Offer(u) }, // must not block
//		OnStatus: func(s camera.Status) { log.Info("camera", "state", s.State) },
//	})
//
// Files: config (what is asked for), session, receive and watch (one connection from DESCRIBE to
// TEARDOWN), dialer and signin (the connection; the credentials on it), offers and choose (what the
// camera describes, and which of it is read), explain (what went wrong, in words), source and retry
// (again and again), probe (once), status and metrics (what to tell people). Its rooms, none of
// which knows a session:
//
//	unit    packets → coded pictures → access units, and when each was taken
//	clip    streams for tests
package camera
