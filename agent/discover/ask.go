package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Camera is what a camera says of itself.
type Camera struct {
	Manufacturer, Model, Firmware, Serial string
	// ClockAhead is how far the camera's clock is ahead of ours.
	ClockAhead time.Duration
	// Profiles are its video streams, those with the most pixels first.
	Profiles []Profile
}

// Profile is one stream.
type Profile struct {
	Token, Name string
	// Encoding is h264, h265, mjpeg, or what else the camera calls it; "" if it does not say.
	Encoding      string
	Width, Height int
	Rate          float64 // pictures a second, 0 if not told
	// URL is the stream's, without user info. Some cameras put a password into its query, so it is
	// not for logs.
	URL string
}

// ServiceAddress is where the device service of a host (with a port, if it is not 80) is by ONVIF's
// rules.
func ServiceAddress(host string) string { return "http://" + host + "/onvif/device_service" }

// askTime bounds all questions to a camera together: one that answers each just in time, byte by
// byte, would take many minutes.
const askTime = time.Minute

// Ask reads what the camera at the address of its device service offers. A *SignInError says that
// it does not let who in. A profile whose stream address it does not tell is left out; none at all
// is an error.
func Ask(ctx context.Context, address string, who Credentials) (Camera, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil {
		return Camera{}, errors.New("the ONVIF address must look like http://host[:port]/onvif/device_service, " +
			"without user name and password")
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	c := newClient(who)
	defer c.close()
	var cam Camera
	if err := c.clock(ctx, address); err != nil {
		return cam, err
	}
	cam.ClockAhead = c.ahead
	if err := c.information(ctx, address, &cam); err != nil {
		return cam, err
	}
	media1, media2, err := c.services(ctx, address)
	if err != nil {
		return cam, err
	}
	if media2 != "" {
		cam.Profiles, err = c.profiles(ctx, nsMedia2, bringTo(media2, base), base)
	}
	if media1 != "" && len(cam.Profiles) == 0 {
		cam.Profiles, err = c.profiles(ctx, nsMedia1, bringTo(media1, base), base)
	}
	if err != nil {
		return cam, err
	}
	if len(cam.Profiles) == 0 {
		return cam, errors.New("the camera tells no video stream")
	}
	slices.SortStableFunc(cam.Profiles, func(a, b Profile) int {
		return cmp.Compare(b.Width*b.Height, a.Width*a.Height)
	})
	return cam, nil
}

// Choose picks the stream of the highest resolution, and for motion and previews the one that is
// nearest to 640x360 and smaller. preview is nil if there is no such.
func (c Camera) Choose() (main Profile, preview *Profile) {
	usable := slices.DeleteFunc(slices.Clone(c.Profiles), func(p Profile) bool {
		return p.Encoding != "" && !slices.Contains([]string{"h264", "h265", "mjpeg"}, p.Encoding)
	})
	if len(usable) == 0 {
		usable = c.Profiles
	}
	main = usable[0]
	best := 0.0
	for i, p := range usable[1:] {
		pixels := float64(p.Width * p.Height)
		if pixels == 0 || p.URL == main.URL || p.Width*p.Height >= main.Width*main.Height {
			continue
		}
		const wanted = 640 * 360
		if ratio := min(pixels, wanted) / max(pixels, wanted); ratio > best {
			best, preview = ratio, &usable[i+1]
		}
	}
	return main, preview
}

// bringTo puts the host by which the camera was reached into an address that it tells, and keeps
// the port: behind a forwarded port, or after a move, it tells addresses that lead nowhere.
func bringTo(address string, base *url.URL) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return address
	}
	u.User = nil
	host := base.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		host = hostOf(ip)
	}
	if u.Scheme == base.Scheme && u.Hostname() != base.Hostname() {
		u.Host = base.Host // the same service, seen from elsewhere
	} else {
		u.Host = joinPort(host, u.Port())
	}
	return u.String()
}

// clock learns how wrong the camera's clock is. It is the one question that needs no signing in; a
// camera that does not answer it is taken to have the right time.
func (c *client) clock(ctx context.Context, address string) error {
	var out struct {
		UTC struct {
			Hour   int `xml:"Time>Hour"`
			Minute int `xml:"Time>Minute"`
			Second int `xml:"Time>Second"`
			Year   int `xml:"Date>Year"`
			Month  int `xml:"Date>Month"`
			Day    int `xml:"Date>Day"`
		} `xml:"Body>GetSystemDateAndTimeResponse>SystemDateAndTime>UTCDateTime"`
	}
	err := c.call(ctx, address, `<GetSystemDateAndTime xmlns="http://www.onvif.org/ver10/device/wsdl"/>`, false, &out)
	var refused *SignInError
	var fault *FaultError
	if errors.As(err, &refused) || errors.As(err, &fault) {
		return nil
	}
	if err != nil {
		return err
	}
	if t := out.UTC; t.Year > 0 && t.Month >= 1 && t.Month <= 12 && t.Day >= 1 && t.Day <= 31 {
		c.ahead = time.Until(time.Date(t.Year, time.Month(t.Month), t.Day, t.Hour, t.Minute, t.Second, 0,
			time.UTC)).Round(time.Second)
	}
	return nil
}

func (c *client) information(ctx context.Context, address string, cam *Camera) error {
	var out struct {
		Info struct{ Manufacturer, Model, FirmwareVersion, SerialNumber string } `xml:"Body>GetDeviceInformationResponse"`
	}
	if err := c.call(ctx, address, `<GetDeviceInformation xmlns="http://www.onvif.org/ver10/device/wsdl"/>`, true,
		&out); err != nil {
		return err
	}
	cam.Manufacturer, cam.Model = plain(out.Info.Manufacturer), plain(out.Info.Model)
	cam.Firmware, cam.Serial = plain(out.Info.FirmwareVersion), plain(out.Info.SerialNumber)
	return nil
}

// services finds the media services: by GetServices, and on old cameras by GetCapabilities.
func (c *client) services(ctx context.Context, address string) (media1, media2 string, err error) {
	var list struct {
		Services []struct{ Namespace, XAddr string } `xml:"Body>GetServicesResponse>Service"`
	}
	err = c.call(ctx, address,
		`<GetServices xmlns="http://www.onvif.org/ver10/device/wsdl"><IncludeCapability>false</IncludeCapability></GetServices>`, true, &list)
	for _, s := range list.Services {
		switch strings.TrimSpace(s.Namespace) {
		case nsMedia1:
			media1 = s.XAddr
		case nsMedia2:
			media2 = s.XAddr
		}
	}
	if media1 != "" || media2 != "" {
		return media1, media2, nil
	}
	if refused := (*SignInError)(nil); errors.As(err, &refused) {
		return "", "", err
	}
	var old struct {
		Media string `xml:"Body>GetCapabilitiesResponse>Capabilities>Media>XAddr"`
	}
	if err := c.call(ctx, address,
		`<GetCapabilities xmlns="http://www.onvif.org/ver10/device/wsdl"><Category>Media</Category></GetCapabilities>`,
		true, &old); err != nil {
		return "", "", err
	}
	if old.Media == "" {
		return "", "", fmt.Errorf("the camera has no ONVIF media service")
	}
	return old.Media, "", nil
}
