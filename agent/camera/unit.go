package camera

import "vmsbridge/agent/camera/unit"

// AccessUnit is one coded picture. Units come in decode order; with B-frames that is not the order
// of Time.
type AccessUnit = unit.AccessUnit

// Codec names a video codec that this package can receive.
type Codec = unit.Codec

// The supported codecs.
const (
	H264  = unit.H264
	H265  = unit.H265
	MJPEG = unit.MJPEG
)

// MaxUnitBytes is the largest access unit that is handed on; a larger one counts as damaged.
const MaxUnitBytes = unit.MaxUnitBytes
