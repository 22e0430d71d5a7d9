package unit

import "time"

// Codec names a video codec that this package can receive.
type Codec string

// The supported codecs.
const (
	H264  Codec = "h264"
	H265  Codec = "h265"
	MJPEG Codec = "mjpeg"
)

// MaxUnitBytes is the largest access unit that is handed on; a larger one counts as damaged.
// gortsplib stops at half of it.
const MaxUnitBytes = 16 << 20

// AccessUnit is one coded picture. Units come in decode order; with B-frames that is not the order
// of Time.
type AccessUnit struct {
	Codec Codec

	// Data is Annex B with four-byte start codes, the parameter sets in front at each random access
	// point, no access unit delimiters; or a complete JFIF. It belongs to the receiver.
	Data []byte

	// Time is when the picture was taken, UTC, in whole microseconds: the arrival of the stream
	// advanced by its RTP time. Two units of one Source never have the same Time, and in
	// presentation order it increases, also over reconnects. One exception: when the machine's
	// clock is set back by more than 10 s, the stream restarts with NewStream and earlier times.
	Time time.Time

	RandomAccess bool // decoding can start here
	Damaged      bool // it depends on lost or damaged data: show it if you must, but do not look for motion in it
	// the first after a (re)connect, or after new parameter sets: the decoder must start anew;
	// implies RandomAccess
	NewStream bool

	Width, Height int // of the picture, from the SPS or the JPEG header; 0 if unknown
}
