package delivery

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrNotPinned is in the chain of the error for a certificate that is not the pinned one.
var ErrNotPinned = errors.New("the other side shows another certificate than tls_fingerprint says")

// Untrusted says whether an error is about the other side's certificate.
func Untrusted(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	return verify || unknown || errors.Is(err, ErrNotPinned)
}

// Trust says whom a sink believes behind TLS, by the YAML's ca_file and tls_fingerprint, for an
// http.Transport or a tls.Dialer: on the other side those vouched for by the system's authorities,
// or by those of a PEM file (caFile), or the one certificate of a SHA-256 fingerprint, 64 hex
// digits with or without colons, whoever signed it.
func Trust(caFile, fingerprint string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("read certificate authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read certificate authorities: %s holds no certificate in PEM form", caFile)
		}
	}
	if fingerprint != "" {
		pin, err := hex.DecodeString(strings.ReplaceAll(fingerprint, ":", ""))
		if err != nil || len(pin) != sha256.Size {
			return nil, errors.New("a fingerprint must be a SHA-256, 64 hex digits")
		}
		// The one certificate is trusted for what it is: not for its name, its issuer or its dates.
		c.InsecureSkipVerify = true //nolint:gosec // VerifyConnection does it
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return fmt.Errorf("%w: none", ErrNotPinned)
			}
			if seen := sha256.Sum256(s.PeerCertificates[0].Raw); !bytes.Equal(seen[:], pin) {
				return fmt.Errorf("%w: its fingerprint is %x", ErrNotPinned, seen)
			}
			return nil
		}
	}
	return c, nil
}
