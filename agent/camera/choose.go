package camera

import (
	"strings"

	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/format"
)

// choice is the stream that will be set up.
type choice struct {
	media  *description.Media
	format format.Format
	codec  Codec
	mode   int
	sets   [][]byte // parameter sets from the description
}

// choose picks the first video stream that we can read. The chosen medium keeps only the chosen
// format, so that packets of other payload types never reach code that nobody needs.
func choose(desc *description.Session, offers []Offer) (choice, *Failure) {
	for _, m := range desc.Medias {
		if m.Type != description.MediaTypeVideo || m.IsBackChannel {
			continue
		}
		for _, f := range m.Formats {
			c := choice{media: m, format: f}
			switch f := f.(type) {
			case *format.H264:
				sps, pps := f.SafeParams()
				c.codec, c.mode, c.sets = H264, f.PacketizationMode, [][]byte{sps, pps}
			case *format.H265:
				vps, sps, pps := f.SafeParams()
				c.codec, c.mode, c.sets = H265, f.MaxDONDiff, [][]byte{vps, sps, pps}
			case *format.MJPEG:
				c.codec = MJPEG
			case *format.Generic: // a supported codec with an unusual payload type or clock
				name, _, _ := strings.Cut(f.RTPMap(), "/")
				c.codec, _ = codecOf(spellCodec(name))
			}
			if c.codec == "" {
				continue
			}
			// A control attribute that makes no URL would be a nil dereference inside the library.
			if u, err := m.URL(desc.BaseURL); err != nil || u == nil {
				return choice{}, failf(NoVideo, err, "The camera describes its stream with an address that cannot be "+
					"read. Check the path of the URL and the camera's firmware.")
			}
			m.Formats = []format.Format{f}
			return c, nil
		}
	}
	return choice{}, noChoice(offers)
}

func noChoice(offers []Offer) *Failure {
	var video, other []string
	broken := ""
	for _, o := range offers {
		switch {
		case o.Kind == "video" && !o.Supported:
			if _, ok := codecOf(o.Codec); ok {
				broken = o.Codec
			}
			video = append(video, o.Codec)
		case o.Kind != "video":
			other = append(other, o.Kind+" ("+o.Codec+")")
		}
	}
	switch {
	case broken != "":
		return failf(NoVideo, nil, "The camera describes its %s stream in a way that cannot be read. Update the "+
			"camera's firmware or choose another stream.", broken)
	case len(video) > 0:
		return failf(UnsupportedCodec, nil, "The camera sends %s, which cannot be decoded here. Set this stream to "+
			"H.264, H.265 or MJPEG in the camera.", strings.Join(video, " and "))
	case len(other) > 0:
		return failf(NoVideo, nil, "The stream has no video, only %s. Use the URL of a video stream.",
			strings.Join(other, " and "))
	}
	return failf(NoVideo, nil, "The camera describes a stream without video. Use the URL of a video stream.")
}
