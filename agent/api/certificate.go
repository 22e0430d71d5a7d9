package api

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vmsbridge/storage/vfs"
)

// A certificate is good for ten years, and another is made in its last month.
const (
	certificateLasts = 3652 * 24 * time.Hour
	certificateRenew = 31 * 24 * time.Hour
)

// earliest is before any bridge was made: a box that boots without the time makes no certificate
// that is over when it knows it.
var earliest = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// KeepCertificate reads the certificate and its key from a file, and makes them if there are none,
// if what is there cannot be used, or if it ends soon. names are the host names and addresses under
// which clients reach the bridge. The file is its owner's alone.
func KeepCertificate(path string, names []string, now time.Time) (pair *tls.Certificate, made bool, err error) {
	if kept, err := tls.LoadX509KeyPair(path, path); err == nil && !ends(&kept, now) {
		return &kept, false, nil
	} else if err != nil && errors.Is(err, fs.ErrPermission) {
		return nil, false, fmt.Errorf("read the bridge's own certificate: %w", err)
	}
	content, err := createCertificate(names, now)
	if err != nil {
		return nil, false, fmt.Errorf("make the bridge's own certificate: %w", err)
	}
	if err := writeFile(path, content); err != nil {
		return nil, false, fmt.Errorf("keep the bridge's own certificate: %w", err)
	}
	fresh, err := tls.X509KeyPair(content, content)
	return &fresh, true, err
}

// ends reports whether a certificate is to be made anew.
func ends(pair *tls.Certificate, now time.Time) bool {
	return !now.Before(pair.Leaf.NotAfter.Add(-certificateRenew))
}

// createCertificate makes both in PEM form. The certificate is its own authority, so that a client
// may be given it as ca_file.
func createCertificate(names []string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	if now.Before(earliest) {
		now = earliest
	}
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "vmsbridge"}, NotBefore: earliest,
		NotAfter:              now.Add(certificateLasts),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else if name != "" {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	signed, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}

// writeFile puts the file in place as a whole.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return vfs.Replace(path, content, 0o600, -1, -1)
}

// certificateNames are those of this machine, and others given: of what it listens on, and of its
// public address.
func certificateNames(others ...string) []string {
	list := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		list = append(list, host)
	}
	addresses, _ := net.InterfaceAddrs() // without them it is good by its fingerprint all the same
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	for _, o := range others {
		if ip := net.ParseIP(o); o != "" && (ip == nil || !ip.IsUnspecified()) {
			list = append(list, o)
		}
	}
	return list
}

// Fingerprint is a certificate's SHA-256 as browsers and openssl show it: AB:CD:….
func Fingerprint(raw []byte) string {
	sum := sha256.Sum256(raw)
	return strings.ReplaceAll(strings.ToUpper(fmt.Sprintf("% x", sum)), " ", ":")
}

// KeptFingerprint is the fingerprint of the certificate in a file, "" if there is none that can be
// read.
func KeptFingerprint(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if block, _ := pem.Decode(bytes.TrimSpace(content)); block != nil && block.Type == "CERTIFICATE" {
		return Fingerprint(block.Bytes)
	}
	return ""
}
