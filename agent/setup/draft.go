package setup

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"vmsbridge/agent/camera"
	"vmsbridge/configs"
)

// Draft is a camera as a person describes it.
type Draft struct {
	// Camera is the id of the one that is to be changed, for Try; "" for a new one. Without a
	// password its own is used, as long as it goes to the same place.
	Camera string
	Name   string
	// URL is rtsp://… or rtsps://…, and for Try also a host, host:port or the http://… of an ONVIF
	// service.
	URL, PreviewURL    string
	Username           string
	Password           configs.Secret
	AllowInsecureBasic bool
}

// Refusal is a wish that was refused, with a sentence that says what to do. Nothing was changed.
type Refusal struct{ Reason string }

// Error is the reason.
func (r *Refusal) Error() string { return r.Reason }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

const (
	longestName = 100  // characters
	longestText = 1000 // bytes of the other fields
)

// check refuses what a configuration cannot hold. The password is in no message.
func (d *Draft) check() error {
	for name, text := range map[string]string{"user name": d.Username, "password": d.Password.Reveal(),
		"address": d.URL, "address of the small stream": d.PreviewURL} {
		if unwritable(text) {
			return refuse("The %s holds a line break or another character that cannot be written.", name)
		}
		if len(text) > longestText {
			return refuse("The %s is too long: %d bytes at most.", name, longestText)
		}
	}
	if err := checkName(d.Name); err != nil {
		return err
	}
	if !d.Password.IsZero() && d.Username == "" {
		return refuse("Give the user name that belongs to the password.")
	}
	if err := checkStream(d.URL); err != nil {
		return err
	}
	if d.PreviewURL == "" {
		return nil
	}
	return checkStream(d.PreviewURL)
}

// unwritable reports whether a text cannot stand in the configuration.
func unwritable(text string) bool {
	return strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text)
}

// checkName refuses an unreadable name.
func checkName(name string) error {
	switch {
	case unwritable(name):
		return refuse("The name holds a line break or another character that cannot be written.")
	case strings.TrimSpace(name) == "":
		return refuse("Give the camera a name.")
	case utf8.RuneCountInString(name) > longestName:
		return refuse("The name is too long: %d characters at most.", longestName)
	}
	return nil
}

// checkStream refuses an address that is not one of a stream. The address is not repeated: it may
// hold a password.
func checkStream(address string) error {
	u, err := url.Parse(address)
	switch {
	case err == nil && u.User != nil || err != nil && strings.Contains(address, "@"):
		return refuse("Write user name and password into their own fields, not into the address.")
	case err != nil || u.Scheme != "rtsp" && u.Scheme != "rtsps" || u.Hostname() == "":
		return refuse("The address must be a stream's, such as rtsp://10.0.0.5/stream1, or be tested first: " +
			"then the camera is asked for it.")
	}
	return nil
}

// hostOf is the host and port of a stream's address, to tell whether a password goes elsewhere.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"rtsp": "554", "rtsps": "322"}[u.Scheme]
	}
	return u.Scheme + "//" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// stream is how the camera is to be asked for a stream.
func (d *Draft) stream() camera.Config {
	return camera.Config{URL: d.URL, Username: d.Username, Password: d.Password.Reveal(),
		AllowInsecureBasic: d.AllowInsecureBasic}
}

// CameraID makes an id of what a camera calls itself: the characters that ids may have, 40 at most.
func CameraID(s string) string {
	s = strings.TrimPrefix(strings.ToLower(s), "urn:uuid:")
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		case r == ' ', r == ':', r == '/':
			return '-'
		}
		return -1
	}, s)
	id = strings.Trim(id, "-._")
	return id[:min(len(id), 40)]
}

// freeID makes an id of a name that no camera has.
func freeID(cfg *configs.Config, name string) string {
	taken := map[string]bool{}
	for _, c := range cfg.Cameras {
		taken[c.ID] = true
	}
	first := CameraID(name)
	for strings.Contains(first, "--") {
		first = strings.ReplaceAll(first, "--", "-")
	}
	if first == "" {
		first = "camera"
	}
	id := first
	for n := 2; taken[id]; n++ {
		id = first + "-" + strconv.Itoa(n)
	}
	return id
}
