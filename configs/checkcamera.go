package configs

import (
	"regexp"
	"strings"
	"time"
	"unicode"
)

func (c *checker) camera(i int) {
	cam, at := &c.cfg.Cameras[i], item("cameras", i)
	if c.bad[at] {
		return
	}
	c.id(at+".id", cam.ID)
	if cam.URL == "" {
		c.fault(at+".url", "missing; write the camera's address, such as rtsp://10.0.0.5:554/stream1")
	} else {
		c.url(at+".url", cam.URL, "rtsp", "rtsps")
	}
	if cam.PreviewURL != "" {
		c.url(at+".preview_url", cam.PreviewURL, "rtsp", "rtsps")
	}
	cam.Password, cam.PasswordFile = c.secret(at+".password", cam.Password, cam.PasswordFile)
	if !cam.Password.IsZero() && cam.Username == "" {
		c.fault(at+".username", "missing; a password is set")
	}
	if strings.ContainsFunc(cam.Username, unicode.IsControl) {
		c.fault(at+".username", "holds a line break or another control character")
	}
	c.oneOf(at+".transport", cam.Transport, "auto", "tcp", "udp", "multicast")
	c.tls(at, cam)
	c.motion(at+".motion", cam.Motion.Motion)
	for j, mask := range cam.Motion.Masks {
		c.polygon(item(at+".motion.masks", j), mask)
	}
	c.regions(at+".motion.regions", cam.Motion.Regions)
}

var sha256Form = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

func (c *checker) tls(at string, cam *Camera) {
	if cam.TLSFingerprint != "" && !sha256Form.MatchString(strings.ReplaceAll(cam.TLSFingerprint, ":", "")) {
		c.fault(at+".tls_fingerprint", "must be the SHA-256 of the certificate, 64 hex digits")
	}
	secure := strings.HasPrefix(cam.URL, "rtsps:") || strings.HasPrefix(cam.PreviewURL, "rtsps:")
	if cam.TLSInsecure && secure && cam.TLSFingerprint == "" {
		c.warn(at+".tls_insecure", "any certificate is accepted, also that of someone in between; tls_fingerprint "+
			"pins one")
	}
	if (cam.TLSFingerprint != "" || cam.TLSInsecure) && !secure && cam.URL != "" {
		c.warn(at+".url", "is not rtsps, so the tls_ keys mean nothing")
	}
	if cam.AllowInsecureBasic {
		c.warn(at+".allow_insecure_basic",
			"the password may be sent in clear, to whoever answers at the camera's address")
	}
}

func (c *checker) motion(at string, m Motion) {
	// What a camera inherits was checked where it stands.
	if p := at + ".sensitivity"; c.given(p) && (m.Sensitivity <= 0 || m.Sensitivity > 1) {
		c.fault(p, "%v must be above 0 and at most 1", m.Sensitivity)
	}
	if p := at + ".rate"; c.given(p) {
		between(c, p, m.Rate, 1, 60)
	}
	if p := at + ".quiet_period"; c.given(p) {
		between(c, p, m.QuietPeriod, 0, 10*time.Minute)
	}
	if p := at + ".min_duration"; c.given(p) {
		between(c, p, m.MinDuration, 0, time.Minute)
	}
	if p := at + ".max_duration"; c.given(p) {
		between(c, p, m.MaxDuration, 10*time.Second, 24*time.Hour)
	}
	if m.MaxDuration > 0 && m.MaxDuration <= m.MinDuration &&
		(c.given(at+".max_duration") || c.given(at+".min_duration")) {
		c.fault(at+".max_duration", "%v is not longer than min_duration, %v", m.MaxDuration, m.MinDuration)
	}
}

func (c *checker) regions(at string, regions []Region) {
	lines := map[string]int{}
	if len(regions) > 64 {
		c.fault(at, "a camera has 64 regions at most, this one %d", len(regions))
	}
	for i, r := range regions {
		at := item(at, i)
		if c.bad[at] {
			continue
		}
		c.id(at+".id", r.ID)
		if first, ok := lines[r.ID]; ok && r.ID != "" {
			c.fault(at+".id", "%s is the id of the region on line %d too", shown(r.ID), first)
		} else {
			lines[r.ID] = c.nearest(c.values, at+".id").line
		}
		if !c.given(at + ".area") {
			c.fault(at+".area", "missing; write its corners as [[x, y], …]")
		} else {
			c.polygon(at+".area", r.Area)
		}
		if p := at + ".sensitivity"; c.given(p) && (r.Sensitivity <= 0 || r.Sensitivity > 1) {
			c.fault(p, "%v must be above 0 and at most 1", r.Sensitivity)
		}
	}
}

func (c *checker) uniqueCameras() {
	lines := map[string]int{}
	for i, cam := range c.cfg.Cameras {
		path := item("cameras", i) + ".id"
		line := c.nearest(c.values, path).line
		if first, ok := lines[cam.ID]; ok && cam.ID != "" {
			c.fault(path, "%s on line %d is the id of the camera on line %d too; ids must differ", shown(cam.ID), line,
				first)
			continue
		}
		lines[cam.ID] = line
	}
}
