package discover

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
)

// The namespaces of ONVIF's media services.
const (
	nsMedia1 = "http://www.onvif.org/ver10/media/wsdl"
	nsMedia2 = "http://www.onvif.org/ver20/media/wsdl"
)

// maxProfiles bounds how many streams of a camera are asked for.
const maxProfiles = 32

// encoder is how a profile's video is made, in both services.
type encoder struct {
	Encoding   string
	Resolution struct{ Width, Height int }
	Rate       float64 `xml:"RateControl>FrameRateLimit"`
}

// profiles asks a media service of version 1 or 2, as its namespace says, for the streams that the
// camera has, and for the address of each. One whose address it does not tell is left out.
func (c *client) profiles(ctx context.Context, namespace, address string, base *url.URL) ([]Profile, error) {
	kind, stream := `<Type>VideoEncoder</Type>`, `<Protocol>RtspUnicast</Protocol>`
	if namespace == nsMedia1 {
		kind, stream = "", `<StreamSetup><Stream xmlns="http://www.onvif.org/ver10/schema">RTP-Unicast</Stream>`+
			`<Transport xmlns="http://www.onvif.org/ver10/schema"><Protocol>RTSP</Protocol></Transport></StreamSetup>`
	}
	var out struct {
		Profiles []struct {
			Token  string `xml:"token,attr"`
			Name   string
			Video1 encoder `xml:"VideoEncoderConfiguration"`
			Video2 encoder `xml:"Configurations>VideoEncoder"`
		} `xml:"Body>GetProfilesResponse>Profiles"`
	}
	if err := c.call(ctx, address, `<GetProfiles xmlns="`+namespace+`">`+kind+`</GetProfiles>`, true,
		&out); err != nil {
		return nil, err
	}
	var told []Profile
	var last error
	for _, p := range out.Profiles[:min(len(out.Profiles), maxProfiles)] {
		var uri struct {
			URI1 string `xml:"Body>GetStreamUriResponse>MediaUri>Uri"`
			URI2 string `xml:"Body>GetStreamUriResponse>Uri"`
		}
		err := c.call(ctx, address, `<GetStreamUri xmlns="`+namespace+`">`+stream+`<ProfileToken>`+escape(p.Token)+
			`</ProfileToken></GetStreamUri>`, true, &uri)
		if refused := (*SignInError)(nil); errors.As(err, &refused) || ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			last = err
			continue
		}
		at := strings.TrimSpace(cmp.Or(uri.URI1, uri.URI2))
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || (u.Scheme != "rtsp" && u.Scheme != "rtsps") {
			continue
		}
		one := profile(p.Token, p.Name, cmp.Or(p.Video1, p.Video2))
		one.URL = bringTo(at, base)
		told = append(told, one)
	}
	if len(told) == 0 {
		return nil, last
	}
	return told, nil
}

// profile puts what both services tell into one form.
func profile(token, name string, v encoder) Profile {
	p := Profile{Token: token, Name: plain(name), Width: sane(v.Resolution.Width), Height: sane(v.Resolution.Height),
		Rate: v.Rate}
	switch e := strings.ToLower(plain(v.Encoding)); e {
	case "h265", "hevc":
		p.Encoding = "h265"
	case "jpeg", "mjpeg":
		p.Encoding = "mjpeg"
	default:
		p.Encoding = e
	}
	if !(p.Rate > 0 && p.Rate < 1000) {
		p.Rate = 0
	}
	return p
}

func sane(pixels int) int {
	if pixels < 0 || pixels > 1<<16 {
		return 0
	}
	return pixels
}
