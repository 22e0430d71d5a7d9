package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"
)

// The faults of Dial.
const (
	DNSFailure    Fault = "name not found"
	TLSFailure    Fault = "broken TLS handshake"
	AddressChange Fault = "address change"
)

// Dial connects to the link, whatever address is asked for, and meets faults of its own as often as
// requests do. It is the DialContext of a transport.
func (l *Link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	var f Fault
	if l.every > 0 && l.rng.IntN(l.every) == 0 {
		f = []Fault{DNSFailure, TLSFailure, AddressChange}[l.rng.IntN(3)]
		l.counts[f]++
	}
	l.mu.Unlock()
	switch f {
	case DNSFailure:
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: address,
			IsNotFound: true}}
	case TLSFailure:
		near, far := net.Pipe()
		go func() {
			buf := make([]byte, 512)
			_, _ = far.Read(buf)
			_, _ = far.Write([]byte("HTTP/1.0 400 this is no TLS\r\n\r\n"))
			_ = far.Close()
		}()
		return near, nil
	case AddressChange:
		if err := l.move(); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	addr := l.addr
	l.mu.Unlock()
	return (&net.Dialer{Timeout: l.opts.Patience}).DialContext(ctx, network, addr)
}

// move gives the link another address. The old one answers no more.
func (l *Link) move() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil
	}
	_ = l.listen.Close()
	return l.open("127.0.0.1:0")
}

// serverTLS is a configuration for linkOptions.TLS with a certificate of its own, and Client what
// trusts it.
func serverTLS() (server, client *tls.Config, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "service.test"},
		DNSNames:    []string{"service.test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(
			24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}},
		MinVersion: tls.VersionTLS12}
	return server, &tls.Config{RootCAs: pool, ServerName: "service.test", MinVersion: tls.VersionTLS12}, nil
}

// Client is an HTTP client that goes through the link's Dial.
func (l *Link) Client(trust *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, TLSClientConfig: trust, MaxIdleConnsPerHost: 32,
		TLSHandshakeTimeout: 2 * l.opts.Patience}}
}
