package camera

import (
	"slices"
	"strings"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/sdp"
)

// Offer is one medium of a camera's description.
type Offer struct {
	Kind      string // video, audio, application
	Codec     string // as people write it: H.264, MPEG-4 Visual, PCMU, …
	Supported bool
}

// readOffers rewrites a session description so that only what is needed is left: the video media,
// with the attributes that are used. A camera whose audio or metadata is described wrongly, or with
// a line that the parser does not like, still works then; and nothing that the parser could stumble
// over (it runs in a goroutine of the library, where a panic would take the process) reaches it:
// each medium is parsed here first. Video media that cannot be parsed even without their fmtp are
// left out. out is nil if body is no session description at all.
func readOffers(body []byte) (out []byte, offers []Offer) {
	var session []string
	var media [][]string
	lines := strings.FieldsFunc(strings.ToValidUTF8(string(body), "?"),
		func(r rune) bool { return r == '\r' || r == '\n' })
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "m="):
			media = append(media, []string{line})
		case len(media) > 0:
			media[len(media)-1] = append(media[len(media)-1], line)
		default:
			session = append(session, line)
		}
	}
	if len(media) == 0 {
		if !slices.ContainsFunc(session, func(l string) bool { return strings.HasPrefix(l, "v=") }) {
			return nil, nil
		}
	}

	head := []string{"v=0", "o=- 0 0 IN IP4 0.0.0.0", "s= ", "t=0 0"}
	for _, line := range session {
		if v, ok := strings.CutPrefix(line, "a=control:"); ok && isRTSP(v) {
			head = append(head, line)
		}
		if strings.HasPrefix(line, "a=key-mgmt:") && parses(append(slices.Clone(head), line, "m=video 0 RTP/AVP 26")) {
			head = append(head, line)
		}
	}
	doc := slices.Clone(head)
	for _, m := range media {
		kind, _, _ := strings.Cut(strings.TrimPrefix(m[0], "m="), " ")
		offer := Offer{Kind: kind, Codec: codecName(m)}
		if kind != "video" {
			offers = append(offers, offer)
			continue
		}
		section := []string{m[0]}
		for _, line := range m[1:] {
			if keepAttribute(line) {
				section = append(section, line)
			}
		}
		if !parses(slices.Concat(head, section)) {
			section = slices.DeleteFunc(section, func(l string) bool { return strings.HasPrefix(l, "a=fmtp:") })
		}
		if parses(slices.Concat(head, section)) {
			_, offer.Supported = codecOf(codecName(m))
			doc = append(doc, section...)
		}
		offers = append(offers, offer)
	}
	return []byte(strings.Join(doc, "\r\n") + "\r\n"), offers
}

func keepAttribute(line string) bool {
	for _, p := range []string{"a=control:", "a=rtpmap:", "a=fmtp:", "a=sendonly", "a=key-mgmt:"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

func isRTSP(control string) bool {
	_, err := base.ParseURL(control)
	return err == nil
}

// parses tries the library's parser.
func parses(lines []string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	var s sdp.SessionDescription
	var d description.Session
	return s.Unmarshal([]byte(strings.Join(lines, "\r\n")+"\r\n")) == nil && d.Unmarshal(&s) == nil
}

// codecName is the codec of a medium's first payload type as people write it.
func codecName(media []string) string {
	fields := strings.Fields(media[0])
	if len(fields) < 4 {
		return "unknown"
	}
	pt := fields[3]
	for _, line := range media[1:] {
		if v, ok := strings.CutPrefix(line, "a=rtpmap:"); ok {
			if num, enc, _ := strings.Cut(strings.TrimSpace(v), " "); num == pt || strings.HasPrefix(pt, "smart/") {
				if name, _, _ := strings.Cut(strings.TrimSpace(enc), "/"); name != "" {
					return spellCodec(name)
				}
				return "unknown"
			}
		}
	}
	if name, ok := map[string]string{"0": "PCMU", "8": "PCMA", "26": "MJPEG", "31": "H.261", "32": "MPEG-2 Video",
		"33": "MPEG-TS", "34": "H.263"}[pt]; ok {
		return name
	}
	return "payload type " + pt
}

// spellCodec is a codec as people write it, of its name in a description.
func spellCodec(name string) string {
	switch upper := strings.ToUpper(name); upper {
	case "H264":
		return "H.264"
	case "H265", "HEVC":
		return "H.265"
	case "H266":
		return "H.266"
	case "JPEG":
		return "MJPEG"
	case "MP4V-ES":
		return "MPEG-4 Visual"
	case "MPV":
		return "MPEG-2 Video"
	case "H263", "H263-1998", "H263-2000":
		return "H.263"
	case "JPEG2000":
		return "JPEG 2000"
	default:
		if len(upper) > 32 {
			upper = upper[:32]
		}
		return upper
	}
}

// codecOf says which of ours a codec is that is written as spellCodec writes it.
func codecOf(name string) (Codec, bool) {
	switch name {
	case "H.264":
		return H264, true
	case "H.265":
		return H265, true
	case "MJPEG":
		return MJPEG, true
	}
	return "", false
}
