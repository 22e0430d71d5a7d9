// Package onviftest is a camera's ONVIF service on a real socket, for the tests of agent/discover
// and of the programs that use it.
//
//	cam := onviftest.New(t, 2)
//	cam.Ahead = -time.Hour // its clock is wrong
//	found, err := discover.Ask(ctx, cam.Address(), discover.Credentials{User: onviftest.User,
//		Password: onviftest.Password})
package onviftest

import (
	"cmp"
	"crypto/md5"  //nolint:gosec // what HTTP digest is made with
	"crypto/sha1" //nolint:gosec // what WS-Security's password digest is made with
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/icholy/digest"
)

// Responder is the service. It checks the password digest against its own clock, as cameras do, or
// asks for HTTP digest. Its fields are set before it is asked.
type Responder struct {
	*httptest.Server
	Ahead      time.Duration     // of its clock
	HTTPDigest bool              // sign-in by HTTP instead of WS-Security
	Challenge  string            // the header by which it asks for that; "" for the usual one
	Media      int               // version of its media service, 0 for a camera that knows no GetServices
	Host       string            // told in its addresses; "" for its true one
	Serial     string            // its serial number
	Answers    map[string]string // by operation, instead of its own
}

// User and Password are who is let in.
const User, Password = "viewer", `p<&"ä`

const (
	nsMedia1 = "http://www.onvif.org/ver10/media/wsdl"
	nsMedia2 = "http://www.onvif.org/ver20/media/wsdl"
)

// New starts a camera whose media service has the version; it ends with the test.
func New(t *testing.T, media int) *Responder {
	r := &Responder{Media: media, Serial: "S42", Answers: map[string]string{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// Address is that of its device service.
func (r *Responder) Address() string { return r.URL + "/onvif/device_service" }

func (r *Responder) told() string {
	if r.Host != "" {
		return r.Host
	}
	return strings.TrimPrefix(r.URL, "http://")
}

// SOAP wraps a body in an envelope.
func SOAP(body string) string {
	return `<?xml version="1.0" encoding="utf-8"?><env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope" xmlns:tds="http://www.onvif.org/ver10/device/wsdl" xmlns:trt="http://www.onvif.org/ver10/media/wsdl" xmlns:tr2="http://www.onvif.org/ver20/media/wsdl" xmlns:tt="http://www.onvif.org/ver10/schema" xmlns:ter="http://www.onvif.org/ver10/error"><env:Body>` +
		body + `</env:Body></env:Envelope>`
}

// Fault is a SOAP fault.
func Fault(code, subcode, reason string) string {
	return SOAP(`<env:Fault><env:Code><env:Value>` + code + `</env:Value><env:Subcode><env:Value>` + subcode +
		`</env:Value></env:Subcode></env:Code><env:Reason><env:Text xml:lang="en">` + reason +
		`</env:Text></env:Reason></env:Fault>`)
}

var operation = regexp.MustCompile(`<s:Body><(\w+) xmlns="http://www\.onvif\.org/(ver\d\d)`)

// ServeHTTP answers one operation.
func (r *Responder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	m := operation.FindStringSubmatch(string(raw))
	if m == nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	op := m[1]
	if op != "GetSystemDateAndTime" {
		if r.HTTPDigest && !r.digestOK(req, raw) {
			w.Header().Set("WWW-Authenticate",
				cmp.Or(r.Challenge, `Digest realm="cam", nonce="abc", qop="auth", algorithm=MD5`))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if !r.HTTPDigest && !r.tokenOK(string(raw)) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, Fault("env:Sender", "ter:NotAuthorized", "Sender not Authorized"))
			return
		}
	}
	if answer, ok := r.Answers[op]; ok {
		_, _ = io.WriteString(w, answer)
		return
	}
	_, _ = io.WriteString(w, SOAP(r.answer(op, m[2], string(raw))))
}

// digestOK computes what RFC 7616 says by itself.
func (r *Responder) digestOK(req *http.Request, body []byte) bool {
	c, err := digest.ParseCredentials(req.Header.Get("Authorization"))
	if err != nil || c.Username != User || c.Realm != "cam" || c.Nonce != "abc" || c.URI != req.URL.RequestURI() {
		return false
	}
	if r.Challenge != "" && c.Algorithm != "" && !strings.Contains(r.Challenge, c.Algorithm) {
		return false
	}
	algorithm, session := strings.CutSuffix(strings.ToUpper(c.Algorithm), "-SESS")
	sum := func(s string) string {
		if algorithm == "SHA-256" {
			return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))
		}
		return fmt.Sprintf("%x", md5.Sum([]byte(s))) //nolint:gosec // HTTP's choice
	}
	a1, a2 := User+":cam:"+Password, req.Method+":"+c.URI
	if session {
		a1 = sum(a1) + ":abc:" + c.Cnonce
	}
	if c.QOP == "auth-int" {
		a2 += ":" + sum(string(body))
	}
	if c.QOP == "" {
		return c.Response == sum(sum(a1)+":abc:"+sum(a2))
	}
	return c.Response == sum(fmt.Sprintf("%s:abc:%08x:%s:%s:%s", sum(a1), c.Nc, c.Cnonce, c.QOP, sum(a2)))
}

var parts = regexp.MustCompile(
	`<w:Username>(.*)</w:Username><w:Password [^>]*>(.*)</w:Password><w:Nonce [^>]*>(.*)</w:Nonce><u:Created>(.*)</u:Created>`)

// tokenOK lets in whose digest is right and not older or newer than five seconds by the camera's
// clock.
func (r *Responder) tokenOK(raw string) bool {
	m := parts.FindStringSubmatch(raw)
	if m == nil || m[1] != User {
		return false
	}
	nonce, err := base64.StdEncoding.DecodeString(m[3])
	created, err2 := time.Parse(time.RFC3339, m[4])
	sum := sha1.Sum(append(nonce, m[4]+Password...)) //nolint:gosec // WS-Security's choice
	off := time.Now().Add(r.Ahead).Sub(created).Abs()
	return err == nil && err2 == nil && off < 5*time.Second && m[2] == base64.StdEncoding.EncodeToString(sum[:])
}

func (r *Responder) answer(op, version, raw string) string {
	host := r.told()
	switch op {
	case "GetSystemDateAndTime":
		t := time.Now().Add(r.Ahead).UTC()
		return fmt.Sprintf(
			`<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:UTCDateTime><tt:Time><tt:Hour>%d</tt:Hour><tt:Minute>%d</tt:Minute><tt:Second>%d</tt:Second></tt:Time><tt:Date><tt:Year>%d</tt:Year><tt:Month>%d</tt:Month><tt:Day>%d</tt:Day></tt:Date></tt:UTCDateTime></tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>`,
			t.Hour(), t.Minute(), t.Second(), t.Year(), t.Month(), t.Day())
	case "GetDeviceInformation":
		return `<tds:GetDeviceInformationResponse><tds:Manufacturer>ACME</tds:Manufacturer><tds:Model>C-1</tds:Model><tds:FirmwareVersion>1.2</tds:FirmwareVersion><tds:SerialNumber>` + r.Serial + `</tds:SerialNumber></tds:GetDeviceInformationResponse>`
	case "GetServices":
		if r.Media == 0 {
			return `<env:Fault><env:Code><env:Value>env:Receiver</env:Value><env:Subcode><env:Value>ter:ActionNotSupported</env:Value></env:Subcode></env:Code></env:Fault>`
		}
		s := `<tds:Service><tds:Namespace>` + nsMedia1 + `</tds:Namespace><tds:XAddr>http://` + host +
			`/onvif/media</tds:XAddr></tds:Service>`
		if r.Media == 2 {
			s += `<tds:Service><tds:Namespace>` + nsMedia2 + `</tds:Namespace><tds:XAddr>http://` + host +
				`/onvif/media2</tds:XAddr></tds:Service>`
		}
		return `<tds:GetServicesResponse>` + s + `</tds:GetServicesResponse>`
	case "GetCapabilities":
		return `<tds:GetCapabilitiesResponse><tds:Capabilities><tt:Media><tt:XAddr>http://` + host +
			`/onvif/media</tt:XAddr></tt:Media></tds:Capabilities></tds:GetCapabilitiesResponse>`
	case "GetProfiles":
		video := func(encoding string, w, h int) string {
			return fmt.Sprintf(
				`<tt:Encoding>%s</tt:Encoding><tt:Resolution><tt:Width>%d</tt:Width><tt:Height>%d</tt:Height></tt:Resolution><tt:RateControl><tt:FrameRateLimit>25</tt:FrameRateLimit></tt:RateControl>`, encoding, w, h)
		}
		if version == "ver20" {
			one := func(token, encoding string, w, h int) string {
				return `<tr2:Profiles token="` + token + `"><tr2:Name>` + token +
					`</tr2:Name><tr2:Configurations><tr2:VideoEncoder token="e">` + video(encoding, w, h) +
					`</tr2:VideoEncoder></tr2:Configurations></tr2:Profiles>`
			}
			return `<tr2:GetProfilesResponse>` + one("small", "H264", 352, 288) + one("main", "H265", 2560, 1440) +
				one("mid", "H264", 640, 360) + `</tr2:GetProfilesResponse>`
		}
		one := func(token, encoding string, w, h int) string {
			return `<trt:Profiles token="` + token + `"><tt:Name>` + token +
				`</tt:Name><tt:VideoEncoderConfiguration token="e">` + video(encoding, w, h) +
				`</tt:VideoEncoderConfiguration></trt:Profiles>`
		}
		return `<trt:GetProfilesResponse>` + one("main", "H264", 1920, 1080) + one("sub &amp; more", "JPEG", 640, 480) +
			`</trt:GetProfilesResponse>`
	case "GetStreamUri":
		token := regexp.MustCompile(`<ProfileToken>(.*)</ProfileToken>`).FindStringSubmatch(raw)[1]
		uri := `rtsp://` + strings.Split(host, ":")[0] + `:8554/` + strings.Fields(token)[0] +
			`?channel=1&amp;unicast=true`
		if version == "ver20" {
			return `<tr2:GetStreamUriResponse><tr2:Uri>` + uri + `</tr2:Uri></tr2:GetStreamUriResponse>`
		}
		return `<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>` + uri +
			`</tt:Uri></trt:MediaUri></trt:GetStreamUriResponse>`
	}
	return `<env:Fault><env:Code><env:Value>env:Receiver</env:Value></env:Code></env:Fault>`
}
