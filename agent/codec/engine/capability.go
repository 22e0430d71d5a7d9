package engine

import (
	"fmt"

	"vmsbridge/agent/codec/avcodec"
	"vmsbridge/agent/codec/confine"
	"vmsbridge/agent/codec/jpeg"
)

// Capability says how well one format is served.
type Capability struct {
	OK      bool   `json:"ok"`
	Library string `json:"library,omitempty"` // for example "libavcodec"
	Version string `json:"version,omitempty"` // for example "59.37.100", if known
	Path    string `json:"path,omitempty"`    // of the library's file, if known
	Decoder string `json:"decoder,omitempty"` // that was asked for by name and is taken, for example "h264_v4l2m2m"
	Problem string `json:"problem,omitempty"` // why not, or why slowly
	Hint    string `json:"hint,omitempty"`    // what to install
}

// Capabilities says what this machine decodes and encodes. JPEG is always there, if slowly.
type Capabilities struct {
	H264 Capability `json:"h264"`
	H265 Capability `json:"h265"`
	JPEG Capability `json:"jpeg"` // MJPEG cameras, and all stills

	Confinement confine.Report `json:"confinement"` // of the decoder processes
}

// Capabilities loads all libraries and says what they are.
func (e *Engine) Capabilities() Capabilities {
	c := Capabilities{H264: e.video(H264), H265: e.video(H265), JPEG: e.pictures(),
		Confinement: confine.Report{Missing: []string{notConfined}}}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held != nil {
		c.Confinement = *e.held
	}
	return c
}

const notConfined = "a process of their own (decode.isolation: process gives one)"

func (e *Engine) video(f Format) Capability {
	lib, err := e.library()
	if err != nil {
		return Capability{Problem: err.Error(), Hint: avcodec.Hint}
	}
	c := Capability{OK: true, Library: "libavcodec", Version: lib.Version, Path: lib.Path,
		Decoder: lib.Preferred(codecOf[f])}
	if err := lib.Supports(codecOf[f]); err != nil {
		c.OK, c.Problem, c.Hint = false, err.Error(), avcodec.Hint
		return c
	}
	for _, name := range e.decoders {
		if codec, _ := avcodec.CodecOf(name); codec == codecOf[f] && e.refused[name] != nil && c.Decoder == "" {
			c.Problem = fmt.Sprintf("decoded in software: %s cannot be used: %v", name, e.refused[name])
			c.Hint = "see that the driver is there and that the service may open its device (agent/BOARDS.md), " +
				"or take the name out of decode.decoders"
		}
	}
	return c
}

func (e *Engine) pictures() Capability {
	j := e.jpeg()
	c := Capability{OK: true}
	c.Library, c.Version, c.Path = j.Describe()
	if !j.Fast() {
		c.Problem, c.Hint = "no C library for JPEG was found", jpeg.Hint
	}
	return c
}
