// Package steady is the loop in C that serves a decoder process's requests while they are of the
// kind that comes all the time: an access unit of a stream that is known, whose pictures are as the
// ones before, or a still of one in full size. It reads the request, has libavcodec decode it,
// reduces the luma and writes the reply, without a step of Go: each call from Go to C and back
// wakes threads of Go's runtime, which costs as much as the decoding. All else it leaves unread to
// its caller, agent/codec/worker, which serves it in Go, and in builds without cgo serves all of
// it. Both loops decode with the same decoder and share what they know of it, a Stream: either may
// serve the next request.
//
//	loop := steady.New(requests, replies, shared, functions, false) // nil without cgo
//	loop.Add(7, stream)
//	switch loop.Next() { … }                         // blocks until there is something for Go
//
// The C code takes no length on trust that the pipe or a stream says; it reads no parameter sets,
// and serves only units whose parameter sets Go has looked at.
package steady

import "unsafe"

// Kept is how many of a stream's last pictures stay for stills.
const Kept = 4

// MaxSet is the longest parameter set that is remembered.
const MaxSet = 512

// The codecs of a Stream.
const (
	H264 = 1 + iota
	H265
)

// Stream is what Go and C know of an open decoder; its layout is that of struct stream in loop.h.
// The engine's decoder owns it and what it points to.
type Stream struct {
	Context, Packet unsafe.Pointer    // of libavcodec
	Spare           [2]unsafe.Pointer // frames for the next pictures
	Last            [Kept]Picture
	Spares          int32 // how many there are in Spare
	Next            int32 // where in Last the next picture goes
	Codec           int32
	// Ready: 0 leaves every request to Go. Otherwise pictures are to be as the fields below say.
	Ready                 int32
	Width, Height, Format int32
	Full                  int32 // the pictures have the full range, by their format or their parameter set
	LumaWidth, LumaHeight int32
	SetBytes              int32 // of Set; 0: none is known
	Planes                int32 // the pictures are three planes, 4:2:0: stills that are not shrunk are made in C
	Set                   [MaxSet]byte
	Budget                Budget
}

// MaxHeld is how many pictures a decoder may have at one time, those that somebody else uses too.
const MaxHeld = 64

// Budget bounds the memory of a decoder's pictures. Each is counted when libavcodec asks for its
// memory, until nobody has it any more: what a stream promises does not matter.
type Budget struct {
	Calls   unsafe.Pointer // of NewBudget; nil where Go serves libavcodec
	Most    int64          // bytes; 0: no limit, and nothing is counted
	Bytes   int64          // of the pictures that are held
	Eighths int32          // of a byte for a pixel
	Holds   int32          // how many there are in Held
	// Denied is how many pictures there would have been with the one that was refused; 0: none was.
	Denied, DeniedWidth, DeniedHeight int32
	_                                 int32
	Held                              [MaxHeld]Held
}

// Held is a picture's memory, with a reference of the budget's own.
type Held struct {
	Buffer unsafe.Pointer
	Bytes  int64
}

// BudgetFunctions are addresses of libavcodec's functions.
type BudgetFunctions struct {
	GetBuffer, PlaneBuffer, Ref, Unref, References uintptr
}

// Picture is one that stays for stills. Frame is nil where there is none.
type Picture struct {
	Frame unsafe.Pointer
	PTS   int64
	Full  int32
	_     int32
}

// Functions are addresses of libavcodec's functions, and where AVFrame has its presentation time.
type Functions struct {
	NewPacket, UnrefPacket, SendPacket, ReceiveFrame uintptr
	AllocFrame, UnrefFrame, FreeFrame                uintptr
	FramePTS                                         uintptr
}

// Why is what Next has for its caller.
type Why int

// The reasons.
const (
	Leave  Why = iota // read the next request from the loop, and serve it
	Finish            // an access unit was fed; what came of it is for Go: Fed
	Look              // an access unit is about to be fed: Unit
	Broken            // the reply could not be written: Err
)
