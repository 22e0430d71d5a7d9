package configs

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// checker looks at the values after decoding. It leaves alone what could not be decoded, which is
// reported already.
type checker struct {
	*decoder
	cfg      *Config
	dir      string // of the YAML file
	open     bool   // every user of the machine may read the YAML file
	loaded   bool   // from a file of this machine, and so for it
	warnings Problems
}

func (c *checker) check() {
	c.bridge()
	c.service()
	c.api()
	c.mqtt()
	c.webhooks()
	c.lines()
	c.stills()
	c.rest()
	for i := range c.cfg.Cameras {
		c.camera(i)
	}
	c.uniqueCameras()
	c.sameAddress()
	c.room()
	if len(c.cfg.Cameras) == 0 && !c.bad["cameras"] {
		c.warn("cameras", "no camera is configured: the bridge runs and has nothing to do")
	}
}

// given reports whether a key with a value stands in the file, readable or not.
func (c *checker) given(path string) bool { _, ok := c.keys[path]; return ok }

// fault reports a wrong value, at the place where it stands; for a default that does not fit, at
// the nearest key above.
func (c *checker) fault(path, format string, args ...any) {
	if !c.bad[path] {
		c.report(c.nearest(c.values, path), path, format, args...)
	}
}

// keyFault reports something about a key, at the place where the key stands.
func (c *checker) keyFault(path, format string, args ...any) {
	if !c.bad[path] {
		c.report(c.nearest(c.keys, path), path, format, args...)
	}
}

func (c *checker) warn(path, format string, args ...any) {
	at := c.nearest(c.keys, path)
	c.warnings = append(c.warnings, Problem{c.file, at.line, at.col, path, fmt.Sprintf(format, args...)})
}

func (c *checker) nearest(places map[string]place, path string) place {
	for {
		if at, ok := places[path]; ok {
			return at
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return place{1, 1}
		}
		// An item of a list has no key of its own: its value stands for it.
		if path = path[:i]; strings.HasSuffix(path, "]") {
			if at, ok := c.values[path]; ok {
				return at
			}
		}
	}
}

func (c *checker) bridge() {
	b := &c.cfg.Bridge
	c.id("bridge.id", b.ID)
	c.id("bridge.account", b.Account)
	b.Data = c.absolute("bridge.data", b.Data)
	if c.given("service.url") {
		for _, key := range []string{"bridge.id", "bridge.account"} {
			if !c.given(key) {
				c.fault(key, "missing; with a service, the bridge must say who it is")
			}
		}
	}
}

func (c *checker) service() {
	s := &c.cfg.Service
	if s.URL == "" {
		if c.given("service.token") || c.given("service.token_file") || c.given("service.session_file") ||
			c.given("service.ca_file") || c.given("service.tls_fingerprint") || c.given("service.url") {
			c.fault("service.url", "missing; write the service's address, or leave out the whole service for a "+
				"bridge on its own")
		}
		return
	}
	u := c.url("service.url", s.URL, "http", "https")
	if u != nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		c.warn("service.url",
			"http sends the token and the events in clear; use https across a network that is not yours")
	}
	if u != nil && !s.Tunnel && !loopback(u.Hostname()) && c.cfg.API.PublicURL == "" && !c.bad["api.public_url"] {
		if host, _, err := net.SplitHostPort(c.cfg.API.Listen); err == nil && loopback(host) {
			c.warn("service.url", "the service will not get stills: this bridge listens on %s only; set api.listen, "+
				"or service.tunnel: true", shown(c.cfg.API.Listen))
		} else if ip, e := netip.ParseAddr(host); err == nil && (host == "" || (e == nil && ip.IsUnspecified())) {
			c.warn("service.url", "the service will not get stills: it must know under which address to ask; set "+
				"api.public_url, or service.tunnel: true")
		}
	}
	s.Token, s.TokenFile = c.secret("service.token", s.Token, s.TokenFile)
	c.signIn(s)
	if s.TLSFingerprint != "" {
		if !sha256Form.MatchString(strings.ReplaceAll(s.TLSFingerprint, ":", "")) {
			c.fault("service.tls_fingerprint", "must be the SHA-256 of the certificate, 64 hex digits")
		}
		if u != nil && u.Scheme == "http" {
			c.fault("service.tls_fingerprint", "has no effect: service.url says http")
		}
	}
	if s.CAFile != "" {
		s.CAFile = c.absolute("service.ca_file", s.CAFile)
		if pem, err := os.ReadFile(s.CAFile); err != nil {
			c.keyFault("service.ca_file", "%v", err)
		} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
			c.keyFault("service.ca_file", "%s holds no certificate in PEM form", s.CAFile)
		}
	}
}

// signIn checks that there is one way to be let in by the service.
func (c *checker) signIn(s *Service) {
	token := c.given("service.token") || c.given("service.token_file")
	switch {
	case c.given("service.session_file"):
		if token {
			c.fault("service.session_file", "stands beside a token; write only one of them")
		}
		s.SessionFile = c.absolute("service.session_file", s.SessionFile)
		c.private("service.session_file", s.SessionFile)
	case token:
	case os.Getenv(TokenVariable) != "":
		s.Token = NewSecret(strings.TrimSpace(os.Getenv(TokenVariable)))
		if strings.ContainsFunc(s.Token.Reveal(), unicode.IsControl) {
			c.fault("service.token", "the one in $"+TokenVariable+" holds a line break or another control character")
		}
	default:
		c.fault("service.token", "missing; write token_file: with the path of a file that holds the bridge's token, "+
			"or session_file: for one that vmsbridge login makes")
	}
}

func (c *checker) api() {
	a := &c.cfg.API
	names := map[string]string{}
	for i := range a.Tokens {
		t, at := &a.Tokens[i], item("api.tokens", i)
		if c.bad[at] {
			continue
		}
		if t.Name == "" {
			c.fault(at+".name", "missing; it says in the log who asked")
		} else if first, ok := names[t.Name]; ok {
			c.fault(at+".name", "%s is the name of the token on line %d too", shown(t.Name),
				c.nearest(c.values, first+".name").line)
		} else {
			names[t.Name] = at
		}
		for j, scope := range t.Scopes {
			if scope != ScopeRead && scope != ScopeReport {
				c.fault(item(at+".scopes", j),
					"%s is none of read and report; write scopes: [read, report] for a program that reports events",
					shown(scope))
			}
		}
		if len(t.Scopes) == 0 {
			t.Scopes = []string{ScopeRead}
		}
		t.Token, t.TokenFile = c.secret(at+".token", t.Token, t.TokenFile)
		if !c.given(at+".token") && !c.given(at+".token_file") {
			c.fault(at, "token or token_file is missing")
		} else if n := len(t.Token.Reveal()); n > 0 && n < 16 {
			key := at + ".token"
			if t.TokenFile != "" {
				key = at + ".token_file"
			}
			c.keyFault(key, "the token has %d characters, at least 16 are needed; make one with: openssl rand -hex 24",
				n)
		}
	}
	host, port, err := net.SplitHostPort(a.Listen)
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		c.fault("api.listen", "%s must be host:port, such as 127.0.0.1:8480 or 0.0.0.0:8480", shown(a.Listen))
	} else if secure := a.TLS.Auto || a.TLS.Cert != ""; !loopback(host) && len(a.Tokens) == 0 && !secure &&
		!c.bad["api.tokens"] && !c.bad["api.tls"] {
		c.fault("api.listen", "%s can be reached from outside this machine, and no token is set; add api.tokens, or "+
			"`tls: auto` so that people can sign in at the page, or listen on 127.0.0.1", shown(a.Listen))
	} else if len(a.Tokens) == 0 && c.given("api") && !secure {
		c.warn("api", "no token is set: only people who sign in at the page will be answered")
	}
	if a.PublicURL != "" {
		c.url("api.public_url", a.PublicURL, "http", "https")
	}
	a.PublicURL = strings.TrimRight(a.PublicURL, "/")
	c.certificate()
	if err == nil && !loopback(host) && a.TLS.Cert == "" && !c.bad["api.tls"] && !c.bad["api.listen"] &&
		!strings.HasPrefix(a.PublicURL, "https:") {
		c.warn("api.listen", "passwords and tokens go over the network in the clear: write `tls: auto` below api for "+
			"a certificate "+
			"that the bridge makes itself, or name one of yours there, or listen on 127.0.0.1 behind a proxy")
	}
}

func (c *checker) certificate() {
	t := &c.cfg.API.TLS
	if t.Auto {
		if !c.bad["bridge.data"] {
			t.Cert = c.cfg.OwnCertificate()
			t.Key = t.Cert
		}
		return
	}
	if (t.Cert == "") != (t.Key == "") {
		c.keyFault("api.tls", "cert and key belong together; one of them is missing")
		return
	}
	if t.Cert == "" || c.bad["api.tls.cert"] || c.bad["api.tls.key"] {
		return
	}
	t.Cert, t.Key = c.absolute("api.tls.cert", t.Cert), c.absolute("api.tls.key", t.Key)
	if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
		c.keyFault("api.tls", "%v", err)
	}
	c.private("api.tls.key", t.Key)
}

func (c *checker) stills() {
	s := c.cfg.Stills
	between(c, "stills.segment_size", s.SegmentSize, 1<<20, 1<<30)
	if !c.bad["stills.max_size"] && !c.bad["stills.segment_size"] && s.MaxSize < 4*s.SegmentSize {
		c.fault("stills.max_size", "%v is below four segments of %v", s.MaxSize, s.SegmentSize)
	}
	if s.MaxAge != 0 {
		between(c, "stills.max_age", s.MaxAge, time.Hour, 87600*time.Hour)
	}
	between(c, "stills.min_free", s.MinFree, 1<<20, 1<<40)
	between(c, "stills.preview_interval", s.PreviewInterval, 100*time.Millisecond, time.Hour)
	between(c, "stills.motion_interval", s.MotionInterval, 40*time.Millisecond, 500*time.Millisecond)
	between(c, "stills.main_interval", s.MainInterval, 100*time.Millisecond, time.Hour)
	between(c, "stills.preview_width", s.PreviewWidth, 64, 7680)
	between(c, "stills.quality", s.Quality, 1, 100)
	between(c, "stills.flush_interval", s.FlushInterval, 100*time.Millisecond, time.Minute)
}

var namedDecoder = regexp.MustCompile(`^(h264|hevc)(_[a-z0-9]+)*$`)

func (c *checker) rest() {
	between(c, "journal.max_age", c.cfg.Journal.MaxAge, time.Hour, 87600*time.Hour)
	between(c, "journal.max_events", c.cfg.Journal.MaxEvents, 1000, 100_000_000)
	between(c, "journal.outbox_max_size", c.cfg.Journal.OutboxMaxSize, 1<<20, 1<<40)
	if c.cfg.Journal.OutboxMaxAge != 0 {
		between(c, "journal.outbox_max_age", c.cfg.Journal.OutboxMaxAge, time.Hour, 87600*time.Hour)
	}
	if c.cfg.Clock.Wait != 0 {
		between(c, "clock.wait", c.cfg.Clock.Wait, time.Second, 168*time.Hour)
	}
	d := &c.cfg.Decode
	c.oneOf("decode.isolation", d.Isolation, "process", "none")
	between(c, "decode.cameras_per_process", d.CamerasPerProcess, 0, 64)
	for i, dir := range d.Libraries {
		at := item("decode.libraries", i)
		d.Libraries[i] = c.absolute(at, dir)
		if st, err := os.Stat(d.Libraries[i]); err != nil {
			c.fault(at, "%v", err)
		} else if !st.IsDir() {
			c.fault(at, "%s is not a folder", d.Libraries[i])
		}
	}
	for i, name := range d.Decoders {
		if !namedDecoder.MatchString(name) {
			c.fault(item("decode.decoders", i), "%q is no decoder of H.264 or H.265 in libavcodec's words; write, "+
				"say, h264_v4l2m2m or hevc_v4l2m2m", name)
		}
	}
	c.motion("motion", c.cfg.Motion)
	c.schedule("arm.schedule", c.cfg.Arm.Schedule)
	if _, err := parseZone(c.cfg.Arm.TimeZone); err != nil {
		c.fault("arm.time_zone", "%v", err)
	}
	c.oneOf("log.level", c.cfg.Log.Level, "debug", "info", "warn", "error")
	c.oneOf("log.format", c.cfg.Log.Format, "text", "json")
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`)

func (c *checker) id(path, id string) {
	if id == "" {
		c.fault(path, "missing; write an id of letters, digits and . _ : -")
	} else if !idForm.MatchString(id) {
		c.fault(path, "%s must be letters, digits and . _ : - only, begin with a letter or digit, and have at most "+
			"64 characters", shown(id))
	}
}

func (c *checker) oneOf(path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		c.fault(path, "%s must be one of %s", shown(value), strings.Join(allowed, ", "))
	}
}

// between reports a value outside of its bounds, naming the bound that it breaks.
func between[T cmp.Ordered](c *checker, path string, value, low, high T) {
	if value < low {
		c.fault(path, "%v is below the least, %v", value, low)
	} else if value > high {
		c.fault(path, "%v is above the most, %v", value, high)
	}
}
