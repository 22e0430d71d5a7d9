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
	if p := at + ".arm.schedule"; c.given(p) { // what it inherits was checked where it stands
		c.schedule(p, cam.Arm.Schedule)
	}
	for j, mask := range cam.Motion.Masks {
		c.polygon(item(at+".motion.masks", j), mask)
	}
	c.regions(at+".motion.regions", cam.Motion.Regions)
	c.crossings(at+".motion.lines", cam.Motion.Lines)
	c.areas(at+".motion.areas", cam.Motion.Areas)
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

// distinct checks the id of a camera's region, line or area, the what, against those before it.
func (c *checker) distinct(at, what, id string, lines map[string]int) {
	c.id(at+".id", id)
	if first, ok := lines[id]; ok && id != "" {
		c.fault(at+".id", "%s is the id of the %s on line %d too", shown(id), what, first)
	} else {
		lines[id] = c.nearest(c.values, at+".id").line
	}
}

// each checks the n regions, lines or areas of a camera, the what, of which there are most at most:
// check looks at one, and answers its id.
func (c *checker) each(at, what string, most, n int, check func(i int, at string) (id string)) {
	lines := map[string]int{}
	if n > most {
		c.fault(at, "a camera has %d %ss at most, this one %d", most, what, n)
	}
	for i := range n {
		if at := item(at, i); !c.bad[at] {
			c.distinct(at, what, check(i, at), lines)
		}
	}
}

// outline checks the corners of a region or an area.
func (c *checker) outline(at string, p Polygon) {
	if !c.given(at) {
		c.fault(at, "missing; write its corners as [[x, y], …]")
	} else {
		c.polygon(at, p)
	}
}

func (c *checker) regions(at string, regions []Region) {
	c.each(at, "region", 64, len(regions), func(i int, at string) (id string) {
		r := regions[i]
		c.outline(at+".area", r.Area)
		if p := at + ".sensitivity"; c.given(p) && (r.Sensitivity <= 0 || r.Sensitivity > 1) {
			c.fault(p, "%v must be above 0 and at most 1", r.Sensitivity)
		}
		return r.ID
	})
}

// maxRules bounds the lines, and the areas, of a camera.
const maxRules = 16

func (c *checker) crossings(at string, list []Line) {
	c.each(at, "line", maxRules, len(list), func(i int, at string) (id string) {
		l := list[i]
		if !c.given(at + ".points") {
			c.fault(at+".points", "missing; write its ends as [[x, y], [x, y]]")
		} else {
			c.polyline(at+".points", l.Points)
		}
		c.oneOf(at+".direction", l.Direction, "any", "a-to-b", "b-to-a")
		return l.ID
	})
}

func (c *checker) areas(at string, list []Area) {
	c.each(at, "area", maxRules, len(list), func(i int, at string) (id string) {
		a := list[i]
		c.outline(at+".area", a.Area)
		if a.Loiter != 0 {
			between(c, at+".loiter", a.Loiter, time.Second, 24*time.Hour)
		}
		if !a.Intrusion && a.Loiter == 0 && !c.bad[at+".loiter"] {
			c.fault(at, "looks for nothing; set loiter to a time such as 30s, or leave out intrusion: false")
		}
		return a.ID
	})
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
