package configs

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Webhook is an address that gets events, each as a signed HTTP request.
type Webhook struct {
	// ID names the hook in the log and to monitors; the characters of a camera's id. Required,
	// unique.
	ID string `yaml:"id"`
	// URL is the address that events are posted to, http or https. It is kept like a secret,
	// because the path of a hook often is one.
	URL Secret `yaml:"url"`
	// URLFile is a file with the address, one line.
	URLFile string `yaml:"url_file"`
	// Secret signs the requests (HMAC-SHA256); 16 characters at least. Required, from the YAML or
	// from SecretFile.
	Secret Secret `yaml:"secret"`
	// SecretFile is a file with the secret, one line. It is read again for each request.
	SecretFile string `yaml:"secret_file"`
	// Types are the events that are wanted, such as vms.motionDetectionEvent.v1, or motion, region,
	// line, inside, loiter, tamper and status for the bridge's own. Empty: all.
	Types []string `yaml:"types"`
	// Cameras are the ids of cameras whose events are wanted. Empty: all, and those of the bridge
	// itself.
	Cameras []string `yaml:"cameras"`
	// Ongoing sends a span when it begins and again when it ended; false: only when it ended.
	// Default true.
	Ongoing bool `yaml:"ongoing"`
	// Image is how an event with pictures carries them: none, their addresses for who has a token;
	// link, addresses that open them for a day without one, at api.public_url, else api.listen;
	// inline, the preview itself as a data: address. Default none.
	Image string `yaml:"image"`
	// Timeout bounds one request. 1s to 5m, default 10s.
	Timeout time.Duration `yaml:"timeout"`
	// CAFile is a PEM file with the certificates that are trusted for the hook instead of the
	// system's. Absolute after Load.
	CAFile string `yaml:"ca_file"`
	// TLSFingerprint is the SHA-256 of the one certificate that is trusted for the hook: 64 hex
	// digits, colons allowed.
	TLSFingerprint string `yaml:"tls_fingerprint"`
	// Backlog bounds what waits for the hook.
	Backlog Backlog `yaml:"backlog"`
}

// setDefaults is called by the decoder for each hook before its keys are read.
func (w *Webhook) setDefaults() {
	w.Ongoing, w.Image, w.Timeout, w.Backlog = true, "none", 10*time.Second, defaultBacklog()
}

// EventWords are short names for the types of the bridge's own events.
var EventWords = map[string]string{
	"motion": "vms.motionDetectionEvent.v1",
	"region": "vms.motionInRegionDetectionEvent.v1",
	"tamper": "vms.tamperDetectionEvent.v1",
	"line":   "vms.objectLineCrossEvent.v1",
	"inside": "vms.objectIntrusionEvent.v1",
	"loiter": "vms.loiterDetectionEvent.v1",
	"status": "vms.deviceCloudStatusUpdateEvent.v1",
}

func (c *checker) webhooks() {
	seen := map[string]string{}
	for i := range c.cfg.Webhooks {
		w, at := &c.cfg.Webhooks[i], item("webhooks", i)
		if c.bad[at] {
			continue
		}
		c.id(at+".id", w.ID)
		if first, ok := seen[w.ID]; ok && w.ID != "" {
			c.fault(at+".id", "%s is the id of the webhook on line %d too", shown(w.ID),
				c.nearest(c.values, first+".id").line)
		}
		seen[w.ID] = at
		c.webhook(w, at)
	}
}

func (c *checker) webhook(w *Webhook, at string) {
	w.URL, w.URLFile = c.secret(at+".url", w.URL, w.URLFile)
	var u *url.URL
	if !w.URL.IsZero() {
		u = c.hookURL(at+".url", w.URL.Reveal())
	} else if !c.given(at+".url") && !c.given(at+".url_file") {
		c.fault(at+".url", "missing; write the address that events are posted to")
	}
	if u != nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		c.warn(at+".url", "http sends the events in clear; use https across a network that is not yours")
	}
	w.Secret, w.SecretFile = c.secret(at+".secret", w.Secret, w.SecretFile)
	switch n := len(w.Secret.Reveal()); {
	case !c.given(at+".secret") && !c.given(at+".secret_file"):
		c.fault(at+".secret", "missing; write secret_file: with the path of a file that holds it; make one with: "+
			"openssl rand -hex 24")
	case n > 0 && n < 16:
		c.fault(at+".secret", "has %d characters, at least 16 are needed; make one with: openssl rand -hex 24", n)
	}
	for k, word := range w.Types {
		if full, ok := EventWords[word]; ok {
			w.Types[k] = full
		} else if !strings.HasPrefix(word, "vms.") || !strings.Contains(word, "Event.v") {
			c.fault(item(at+".types", k), "%s is no type of event; write motion, region, tamper, status, or one such "+
				"as vms.lprPlateReadEvent.v1", shown(word))
		}
	}
	for k, id := range w.Cameras {
		if !slices.ContainsFunc(c.cfg.Cameras, func(cam Camera) bool { return cam.ID == id }) {
			c.fault(item(at+".cameras", k), "%s is the id of no camera in this file", shown(id))
		}
	}
	c.oneOf(at+".image", w.Image, "none", "link", "inline")
	if w.Image == "link" && u != nil {
		c.reachable(at+".image", u)
	}
	between(c, at+".timeout", w.Timeout, time.Second, 5*time.Minute)
	c.backlog(at+".backlog", w.Backlog)
	w.CAFile = c.trust(at, u, "https", w.CAFile, w.TLSFingerprint)
}

// reachable says when no address of this bridge can be made that whoever is behind a hook can open.
func (c *checker) reachable(path string, hook *url.URL) {
	host, _, err := net.SplitHostPort(c.cfg.API.Listen)
	if c.cfg.API.PublicURL != "" || err != nil {
		return
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip.IsUnspecified():
		c.fault(path, "no address of a picture can be made, since the bridge listens on all addresses; write "+
			"api.public_url: with the one under which others reach it, or image: inline")
	case loopback(host) && !loopback(hook.Hostname()):
		c.warn(path, "the addresses of pictures lead to %s, which is each machine itself; write api.public_url: with "+
			"the address under which others reach the bridge, or image: inline", shown(host))
	}
}

// hookURL checks an address that may have a query; it returns nil if it reported one. The address
// is never repeated.
func (c *checker) hookURL(path, raw string) *url.URL {
	bare, _, _ := strings.Cut(raw, "?")
	u := c.url(path, bare, "http", "https")
	if u == nil {
		return nil
	}
	if u, err := url.Parse(raw); err == nil && u.Fragment == "" {
		return u
	}
	c.fault(path, "is not an address; write it as https://host/path, without #")
	return nil
}
