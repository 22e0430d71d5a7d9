package api

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"vmsbridge/configs"
)

// certificate is the one that is served: the bridge's own, read anew with each reload: certificates
// are renewed under the same name.
type certificate struct {
	pair atomic.Pointer[tls.Certificate]
}

func (c *certificate) load(cfg *configs.Config, log *slog.Logger) error {
	pair, err := readPair(cfg, log)
	if err == nil {
		c.pair.Store(pair)
	}
	return err
}

// readPair reads the certificate of a configuration, or makes the bridge's own where that is asked
// for.
func readPair(cfg *configs.Config, log *slog.Logger) (*tls.Certificate, error) {
	t := cfg.API.TLS
	if cfg.MakesCertificate() {
		listen, _, _ := net.SplitHostPort(cfg.API.Listen)
		public := ""
		if u, err := url.Parse(cfg.API.PublicURL); err == nil {
			public = u.Hostname()
		}
		pair, made, err := KeepCertificate(t.Cert, certificateNames(listen, public), time.Now())
		if err != nil {
			return nil, fmt.Errorf("load api.tls: %w", err)
		}
		log.Info(
			"the local API has a certificate of its own making; compare the fingerprint once where it is asked for",
			"sha256", Fingerprint(pair.Leaf.Raw), "new", made, "until", pair.Leaf.NotAfter)
		return pair, nil
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("load api.tls: %w", err)
	}
	return &pair, nil
}

// own is the fingerprint of the certificate that is served, if the bridge made it itself.
func (c *certificate) own(cfg *configs.Config) string {
	if pair := c.pair.Load(); pair != nil && cfg.MakesCertificate() {
		return Fingerprint(pair.Leaf.Raw)
	}
	return ""
}

// renew makes the bridge's own certificate anew if it ends soon.
func (c *certificate) renew(cfg *configs.Config, log *slog.Logger) {
	if pair := c.pair.Load(); pair == nil || !cfg.MakesCertificate() || !ends(pair, time.Now()) {
		return
	}
	if err := c.load(cfg, log); err != nil {
		log.Warn("the local API's certificate ends soon and could not be made anew", "error", err)
	}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil }
