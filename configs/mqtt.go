package configs

import (
	"crypto/x509"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// MQTT is a broker that gets the events beside the service, for Home Assistant and the like. The
// zero value means none.
type MQTT struct {
	// URL is the broker's address, mqtt://host:port or mqtts://host:port. Empty: there is no
	// broker.
	URL string `yaml:"url"`
	// Protocol is the version of MQTT, 5. 3.1.1, which bridges spoke before, is taken for 5, with a
	// warning. Default 5.
	Protocol string `yaml:"protocol"`
	// ClientID names the bridge to the broker. Default: vmsbridge- and the bridge's id.
	ClientID string `yaml:"client_id"`
	// Username and the password sign in at the broker.
	Username string `yaml:"username"`
	// Password comes from the YAML or from PasswordFile.
	Password Secret `yaml:"password"`
	// PasswordFile is a file with the password, one line. It is read again for each connection.
	PasswordFile string `yaml:"password_file"`
	// CAFile is a PEM file with the certificates that are trusted for the broker instead of the
	// system's. Absolute after Load.
	CAFile string `yaml:"ca_file"`
	// TLSFingerprint is the SHA-256 of the one certificate that is trusted for the broker: 64 hex
	// digits, colons allowed.
	TLSFingerprint string `yaml:"tls_fingerprint"`
	// Prefix begins the bridge's topics, such as site/gatehouse. Default: vmsbridge/ and the
	// bridge's id.
	Prefix string `yaml:"prefix"`
	// Discovery tells Home Assistant of the cameras, so that they appear there by themselves.
	// Default true.
	Discovery bool `yaml:"discovery"`
	// DiscoveryPrefix is the topic below which Home Assistant looks. Default homeassistant.
	DiscoveryPrefix string `yaml:"discovery_prefix"`
	// Images publishes the best picture of each camera's last motion, retained, when the motion has
	// ended. Default true.
	Images bool `yaml:"images"`
	// Arm lets whoever may publish at the broker below the prefix arm and disarm cameras: Home
	// Assistant gets a switch for each. Default true.
	Arm bool `yaml:"arm"`
	// Backlog bounds what waits for the broker.
	Backlog Backlog `yaml:"backlog"`
}

// Backlog bounds what waits for a sink beside the service that does not take them. What is more, or
// older, is left out for it, and counted.
type Backlog struct {
	// MaxEvents is how many changes of events may wait. 100 to 10000000, default 100000.
	MaxEvents int `yaml:"max_events"`
	// MaxAge is how long one may wait; 0: for ever. 0 or 1h to 3650d, default 7d.
	MaxAge time.Duration `yaml:"max_age"`
}

func defaultBacklog() Backlog { return Backlog{MaxEvents: 100_000, MaxAge: 168 * time.Hour} }

func defaultMQTT() MQTT {
	return MQTT{Protocol: "5", Discovery: true, Images: true, Arm: true, DiscoveryPrefix: "homeassistant",
		Backlog: defaultBacklog()}
}

// fillMQTT completes what depends on the bridge's id.
func (c *Config) fillMQTT() {
	m := &c.MQTT
	if m.ClientID == "" {
		m.ClientID = "vmsbridge-" + c.Bridge.ID
	}
	if m.Prefix == "" {
		m.Prefix = "vmsbridge/" + c.Bridge.ID
	}
	if m.DiscoveryPrefix == "" {
		m.DiscoveryPrefix = "homeassistant"
	}
}

// topicForm is a topic that may begin others: levels without wildcards, none of them empty.
var topicForm = regexp.MustCompile(`^[^/+#$\s\x00][^/+#\s\x00]*(/[^/+#\s\x00]+)*$`)

func (c *checker) mqtt() {
	m := &c.cfg.MQTT
	c.backlog("mqtt.backlog", m.Backlog)
	if m.URL == "" {
		if c.given("mqtt") && !c.bad["mqtt"] {
			c.fault("mqtt.url", "missing; write the broker's address, such as mqtt://10.0.0.3:1883, or leave out the "+
				"whole group")
		}
		return
	}
	u := c.url("mqtt.url", m.URL, "mqtt", "mqtts")
	if u != nil && (u.RawQuery != "" || u.Path != "" && u.Path != "/") {
		c.fault("mqtt.url", "must end after the port; topics begin with mqtt.prefix")
	}
	if c.oneOf("mqtt.protocol", m.Protocol, "5", "3.1.1"); m.Protocol == "3.1.1" {
		c.warn("mqtt.protocol", "the bridge speaks MQTT 5 only, which brokers know since 2019; take this line out, "+
			"and if the broker refuses it, renew that")
	}
	m.Password, m.PasswordFile = c.secret("mqtt.password", m.Password, m.PasswordFile)
	if !m.Password.IsZero() && m.Username == "" {
		c.fault("mqtt.username", "missing; a password is set")
	}
	for key, value := range map[string]string{"mqtt.username": m.Username, "mqtt.client_id": m.ClientID} {
		if strings.ContainsFunc(value, unicode.IsControl) {
			c.fault(key, "holds a line break or another control character")
		}
	}
	for key, value := range map[string]string{"mqtt.prefix": m.Prefix, "mqtt.discovery_prefix": m.DiscoveryPrefix} {
		if !topicForm.MatchString(value) || len(value) > 200 {
			c.fault(key, "%s must be a topic, such as site/gatehouse: levels between single slashes, without + # and "+
				"spaces, 200 characters at most", shown(value))
		}
	}
	m.CAFile = c.trust("mqtt", u, "mqtts", m.CAFile, m.TLSFingerprint)
	if u != nil && u.Scheme == "mqtt" && !m.Password.IsZero() && !loopback(u.Hostname()) {
		c.warn("mqtt.url", "mqtt sends the password in clear; use mqtts across a network that is not yours")
	}
}

func (c *checker) backlog(at string, b Backlog) {
	between(c, at+".max_events", b.MaxEvents, 100, 10_000_000)
	if b.MaxAge != 0 {
		between(c, at+".max_age", b.MaxAge, time.Hour, 87600*time.Hour)
	}
}

// trust checks the keys ca_file and tls_fingerprint of a group whose address is u (nil: it was
// reported), and gives the former as an absolute path.
func (c *checker) trust(at string, u *url.URL, secure, caFile, fingerprint string) string {
	if fingerprint != "" && !sha256Form.MatchString(strings.ReplaceAll(fingerprint, ":", "")) {
		c.fault(at+".tls_fingerprint", "must be the SHA-256 of the certificate, 64 hex digits")
	}
	if u != nil && u.Scheme != secure {
		for _, key := range []string{"tls_fingerprint", "ca_file"} {
			if c.given(at + "." + key) {
				c.fault(at+"."+key, "has no effect: %s says %s", at+".url", u.Scheme)
			}
		}
	}
	if caFile == "" {
		return ""
	}
	caFile = c.absolute(at+".ca_file", caFile)
	if pem, err := os.ReadFile(caFile); err != nil {
		c.keyFault(at+".ca_file", "%v", err)
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		c.keyFault(at+".ca_file", "%s holds no certificate in PEM form", caFile)
	}
	return caFile
}
