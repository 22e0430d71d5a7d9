package footage

import "strings"

// luma says how to get the brightness out of the stream's pixels: the filters, and whether it is
// full range. What has a luma plane keeps it untouched; what has colours of another kind (GIF, RGB)
// is converted.
func (s stream) luma() (filters string, full bool) {
	switch {
	case strings.HasPrefix(s.pixels, "gray"), strings.HasPrefix(s.pixels, "yuv"), strings.HasPrefix(s.pixels, "nv"),
		strings.HasPrefix(s.pixels, "p0"), strings.HasPrefix(s.pixels, "p2"), strings.HasPrefix(s.pixels, "p4"),
		strings.HasPrefix(s.pixels, "yuyv"), strings.HasPrefix(s.pixels, "uyvy"), strings.HasPrefix(s.pixels,
			"yvyu"), strings.HasPrefix(s.pixels, "y2"):
		return "extractplanes=y,format=gray|gray9le|gray10le|gray12le|gray16le", s.fullRange()
	default:
		return "format=gray", true // swscale's gray is full range
	}
}

// fullRange says that black is 0: the stream says so, or what it is means that. As in the bridge, a
// video that says nothing is limited.
func (s stream) fullRange() bool {
	switch s.colours {
	case "pc":
		return true
	case "tv":
		return false
	}
	videoCodec := s.codec == "h264" || s.codec == "hevc" || s.codec == "vp9" || s.codec == "av1" || s.codec == "mpeg4"
	return strings.HasPrefix(s.pixels, "yuvj") || strings.HasPrefix(s.pixels, "gray") && !videoCodec
}
