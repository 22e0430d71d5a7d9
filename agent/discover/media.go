package discover

import (
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

// profiles2 asks the service of version 2.
func (c *client) profiles2(ctx context.Context, address string, base *url.URL) ([]Profile, error) {
	var out struct {
		Profiles []struct {
			Token string `xml:"token,attr"`
			Name  string
			Video encoder `xml:"Configurations>VideoEncoder"`
		} `xml:"Body>GetProfilesResponse>Profiles"`
	}
	if err := c.call(ctx, address, `<GetProfiles xmlns="`+nsMedia2+`"><Type>VideoEncoder</Type></GetProfiles>`, true,
		&out); err != nil {
		return nil, err
	}
	var list []Profile
	for _, p := range out.Profiles {
		list = append(list, profile(p.Token, p.Name, p.Video))
	}
	return c.streams(ctx, list, base, func(token string) (string, error) {
		var uri struct {
			URI string `xml:"Body>GetStreamUriResponse>Uri"`
		}
		err := c.call(ctx, address, `<GetStreamUri xmlns="`+nsMedia2+`"><Protocol>RtspUnicast</Protocol><ProfileToken>`+
			escape(token)+`</ProfileToken></GetStreamUri>`, true, &uri)
		return uri.URI, err
	})
}

// profiles1 asks the service of version 1.
func (c *client) profiles1(ctx context.Context, address string, base *url.URL) ([]Profile, error) {
	var out struct {
		Profiles []struct {
			Token string  `xml:"token,attr"`
			Name  string  `xml:"Name"`
			Video encoder `xml:"VideoEncoderConfiguration"`
		} `xml:"Body>GetProfilesResponse>Profiles"`
	}
	if err := c.call(ctx, address, `<GetProfiles xmlns="`+nsMedia1+`"/>`, true, &out); err != nil {
		return nil, err
	}
	var list []Profile
	for _, p := range out.Profiles {
		list = append(list, profile(p.Token, p.Name, p.Video))
	}
	return c.streams(ctx, list, base, func(token string) (string, error) {
		var uri struct {
			URI string `xml:"Body>GetStreamUriResponse>MediaUri>Uri"`
		}
		err := c.call(ctx, address, `<GetStreamUri xmlns="`+nsMedia1+
			`"><StreamSetup><Stream xmlns="http://www.onvif.org/ver10/schema">RTP-Unicast</Stream>`+
			`<Transport xmlns="http://www.onvif.org/ver10/schema"><Protocol>RTSP</Protocol></Transport></StreamSetup><ProfileToken>`+escape(token)+`</ProfileToken></GetStreamUri>`, true, &uri)
		return uri.URI, err
	})
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

// streams asks for the address of each profile's stream. One that the camera does not tell is left
// out.
func (c *client) streams(ctx context.Context, list []Profile, base *url.URL,
	ask func(token string) (string, error)) ([]Profile, error) {
	var told []Profile
	var last error
	for _, p := range list[:min(len(list), maxProfiles)] {
		address, err := ask(p.Token)
		if refused := (*SignInError)(nil); errors.As(err, &refused) || ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			last = err
			continue
		}
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Host == "" || (u.Scheme != "rtsp" && u.Scheme != "rtsps") {
			continue
		}
		p.URL = bringTo(address, base)
		told = append(told, p)
	}
	if len(told) == 0 {
		return nil, last
	}
	return told, nil
}
