// Package pipeline is one camera's way through the bridge:
//
//	access unit (agent/camera) → queue → picture (agent/codec) → activity → span (motion) → event → Outlet
//	                                        picture → still → ring (storage/stills)
//
// The queue is where the RTSP reader and the decoder part: nothing behind it can make the reader
// wait. pipeline.go is the camera's loop over the queue, picture.go the way from a unit to the
// event; new.go wires it.
//
// The gate (gate.go, hold.go) leaves groups of pictures undecoded in which nothing moves: it
// compares keyframes (sameview.go) and the sizes of the pictures between (sizes.go), and holds a
// group only where something small would have to show. When something does, the held group is
// decoded from its keyframe on, so that a span begins with the right picture.
//
// While nothing begins, access units wait for the next one, at most until tooSlow (queue.go), and
// are decoded together, which wakes agent and decoder process half as often. A picture in which a
// motion may begin ends that; confirming takes more pictures than waited, so no event is later.
//
// The recorder decides which pictures are kept, mainstills makes those of the full-resolution
// stream, tampering looks after the view, presence after the camera's own state, and the author
// writes the events.
//
//	cameras := pipeline.NewCameras(deps, registry, nil)
//	err := cameras.Set(cameras.Tasks(cfg.Cameras))
//	err = cameras.Run(ctx) // a pipeline for each camera, made anew when it fails
package pipeline
