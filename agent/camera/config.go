package camera

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
)

// Transports of Config. TransportAuto starts with TCP and changes to UDP and back by itself.
const (
	TransportAuto      = "auto"
	TransportTCP       = "tcp"
	TransportUDP       = "udp"
	TransportMulticast = "multicast"
)

// Config says which stream to read and how. Only URL is required.
type Config struct {
	// Camera and Stream are the labels of log lines and metrics, e.g. "gate" and "main".
	Camera, Stream string

	// URL is rtsp://host[:port]/path or rtsps://…, without user info.
	URL string

	// Username and Password are sent as digest; as Basic only over rtsps or if AllowInsecureBasic.
	// Any characters may occur.
	Username, Password string

	// Transport is auto (or ""), tcp, udp or multicast.
	Transport string

	// AllowInsecureBasic permits Basic sign-in over plain RTSP, which shows the password to
	// everyone on the network.
	AllowInsecureBasic bool

	// TLS is for rtsps only.
	TLS TLS

	// ConnectTimeout bounds the TCP connection (default 5 s), ReadTimeout the answer to each
	// request (default 10 s).
	ConnectTimeout, ReadTimeout time.Duration

	// StaleAfter is the longest time without an access unit (default 10 s). A stream that sends
	// often is given up sooner: after three times its longest interval so far, but not before 4 s.
	// Raise it for cameras with less than a picture in 10 s.
	StaleAfter time.Duration

	// KeyframeAfter is how long to wait for a random access point before the state becomes
	// NoKeyframe (default 12 s). The session goes on; it is given up after six times as long.
	KeyframeAfter time.Duration

	// Now is the time on a scale that does not step, of which the pictures' times are then. Nil:
	// the machine's wall clock, whose steps the pictures' times follow.
	Now func() time.Time

	teardown time.Duration // for tests: in place of teardownTime
}

// now is Now, or the machine's.
func (c Config) now() func() time.Time {
	if c.Now != nil {
		return c.Now
	}
	return time.Now
}

// TLS says how far the certificate of an rtsps camera is trusted. The zero value asks for a valid
// chain and host name.
type TLS struct {
	// InsecureSkipVerify accepts any certificate.
	InsecureSkipVerify bool
	// Fingerprint is the SHA-256 of the camera's certificate in hex, colons allowed; nothing else
	// is then checked.
	Fingerprint string
}

// LogValue keeps the password out of logs.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(slog.String("camera", c.Camera), slog.String("stream", c.Stream),
		slog.String("url", ShownURL(c.URL)),
		slog.String("transport", c.Transport))
}

// String keeps the password out of messages.
func (c Config) String() string {
	return "camera " + c.Camera + " " + c.Stream + " " + ShownURL(c.URL)
}

// GoString keeps the password out of %#v.
func (c Config) GoString() string { return "camera.Config{" + c.String() + "}" }

// ShownURL is an address for people and logs: without user info, and without a password in its path
// or query.
func ShownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "(unreadable URL)"
	}
	u.User = nil
	return hideQueryPassword(u.String())
}

// queryPassword is a password in a path or query, as in
// rtsp://host/user=admin&password=secret&channel=1, which some makes want.
var queryPassword = regexp.MustCompile(`(?i)\b((?:pass|passwd|password|pwd|token|secret)(?:=|%3D))[^&/;\s"]*`)

func hideQueryPassword(text string) string { return queryPassword.ReplaceAllString(text, "${1}***") }

// target is a Config that was checked, with its defaults.
type target struct {
	Config
	url         *base.URL // with user info, for gortsplib; never printed
	secure      bool
	fingerprint []byte
}

// check returns all problems at once.
func (c Config) check() (*target, error) {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	t := &target{Config: c}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil: // the error of url.Parse repeats the URL, which may hold a password
		add(
			"read url: it is not a valid URL; write rtsp://host/path and put user name and password " +
				"in their own fields")
	case u.Scheme != "rtsp" && u.Scheme != "rtsps":
		add("read url %q: the scheme must be rtsp or rtsps", ShownURL(c.URL))
	case u.Hostname() == "":
		add("read url %q: the host is missing", ShownURL(c.URL))
	case u.User != nil:
		add("read url %q: user name and password do not belong into the URL; use username and password (or "+
			"password_file)", ShownURL(c.URL))
	case u.Fragment != "" || u.Opaque != "":
		add("read url %q: fragments and opaque URLs are not RTSP", ShownURL(c.URL))
	default:
		t.secure = u.Scheme == "rtsps"
		if c.Username != "" || c.Password != "" {
			u.User = url.UserPassword(c.Username, c.Password)
		}
		t.url = (*base.URL)(u)
	}

	switch c.Transport {
	case "":
		t.Transport = TransportAuto
	case TransportAuto, TransportTCP, TransportUDP, TransportMulticast:
	default:
		add("read transport %q: it must be auto, tcp, udp or multicast", c.Transport)
	}
	if f := strings.NewReplacer(":", "", " ", "").Replace(c.TLS.Fingerprint); f != "" {
		if t.fingerprint, err = hex.DecodeString(f); err != nil || len(t.fingerprint) != 32 {
			add("read tls fingerprint %q: it must be a SHA-256 in hex, 64 digits", c.TLS.Fingerprint)
		}
	}
	if strings.ContainsAny(c.Username+c.Password, "\r\n\x00") {
		add("read user name and password: line breaks and NUL cannot be sent")
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"connect timeout", &t.ConnectTimeout, 5 * time.Second},
		{"read timeout", &t.ReadTimeout, 10 * time.Second},
		{"stale time", &t.StaleAfter, 10 * time.Second},
		{"keyframe time", &t.KeyframeAfter, 12 * time.Second},
	} {
		if *d.value < 0 {
			add("read %s %s: it must not be negative", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("configure camera %q: %w", c.Camera, errors.Join(problems...))
	}
	return t, nil
}
