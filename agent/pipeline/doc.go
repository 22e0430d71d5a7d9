// Package pipeline is one camera's way through the bridge:
//
//	access unit (agent/camera) → queue → picture (agent/codec) → activity → span (motion) → event → Outlet
//	                                        picture → still → ring (storage/stills)
//
// The queue is where the RTSP reader and the decoder part: nothing behind it can make the reader wait. view.go follows a unit from
// the queue to the event; the recorder decides which pictures are kept, mainstills makes those of the full-resolution stream, the
// guard looks after tampering, presence after the camera's own state, and the author writes the events.
//
//	p, err := pipeline.New(cfg.Cameras[0], rooms)
//	err = p.Run(ctx) // until ctx is done; agent supervises it
package pipeline
