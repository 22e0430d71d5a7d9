// Package pipeline is one camera's way through the bridge:
//
//	access unit (agent/camera) → queue → picture (agent/codec) → activity → span (motion) → event → Outlet
//	                                        picture → still → ring (storage/stills)
//
// The queue is where the RTSP reader and the decoder part: nothing behind it can make the reader
// wait. pipeline.go is the camera's loop, from a unit of the queue to the event; new.go wires it.
// The recorder decides which pictures are kept, mainstills makes those of the full-resolution
// stream, tampering looks after the view, presence after the camera's own state, and the author
// writes the events.
//
//	cameras := pipeline.NewCameras(deps, registry, nil)
//	err := cameras.Set(cameras.Tasks(cfg.Cameras))
//	err = cameras.Run(ctx) // a pipeline for each camera, made anew when it fails
package pipeline
