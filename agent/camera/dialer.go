package camera

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"vmsbridge/agent/rawfd"
)

// errRedirected refuses to follow a camera to another host: our credentials would follow too.
var errRedirected = errors.New("redirected to another host")

// errFingerprint means that the certificate is not the expected one.
var errFingerprint = errors.New("certificate has another fingerprint")

const maxDials = 4 // of one session, by redirects

// dialOptions say to whom a dialer connects, and whom it trusts.
type dialOptions struct {
	Host        string        // of the URL, without the port: connections go nowhere else
	Connect     time.Duration // bounds the TCP connection
	Idle        time.Duration // bounds each read until Settled
	Fingerprint []byte        // SHA-256 of the certificate, nothing else is then checked; nil: none is expected
	Insecure    bool          // any certificate will do
}

// dialer makes the connections of one session to a camera, and no other: it goes to no other host,
// trusts no other certificate than it was told to, and cuts a connection whose other end is silent.
// It is safe for concurrent use.
type dialer struct {
	opts dialOptions

	mu    sync.Mutex
	conn  *armedConn
	dials int
	seen  string // fingerprint of the certificate that the camera showed
}

// newDialer is for one session.
func newDialer(opts dialOptions) *dialer { return &dialer{opts: opts} }

// Dial is the DialContext of the RTSP client.
func (d *dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(host, d.opts.Host) {
		return nil, fmt.Errorf("%w: %s", errRedirected, address)
	}
	d.mu.Lock()
	d.dials++
	n := d.dials
	d.mu.Unlock()
	if n > maxDials {
		return nil, errors.New("too many redirects")
	}
	nd := net.Dialer{Timeout: d.opts.Connect}
	c, err := nd.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	a := &armedConn{Conn: c, idle: d.opts.Idle, in: bufio.NewReaderSize(rawfd.Reader(c), readAtOnce)}
	d.mu.Lock()
	d.conn = a
	d.mu.Unlock()
	return a, nil
}

// Settled ends the deadlines: the session plays, and its silence is watched elsewhere.
func (d *dialer) Settled() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.disarm()
	}
}

// Drop cuts the connection. Whoever waits for it returns at once.
func (d *dialer) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		_ = d.conn.Close()
	}
}

// TLSConfig trusts what the configuration says. It checks the certificate itself, so that a refusal
// can name its fingerprint.
func (d *dialer) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection below takes its place
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return errors.New("the camera showed no certificate")
			}
			leaf := s.PeerCertificates[0]
			sum := sha256.Sum256(leaf.Raw)
			d.mu.Lock()
			d.seen = hex.EncodeToString(sum[:])
			d.mu.Unlock()
			if d.opts.Fingerprint != nil {
				if subtle.ConstantTimeCompare(sum[:], d.opts.Fingerprint) != 1 {
					return errFingerprint
				}
				return nil
			}
			if d.opts.Insecure {
				return nil
			}
			inter := x509.NewCertPool()
			for _, c := range s.PeerCertificates[1:] {
				inter.AddCert(c)
			}
			_, err := leaf.Verify(x509.VerifyOptions{DNSName: d.opts.Host, Intermediates: inter})
			return err
		},
	}
}

// Certificate is the fingerprint of the certificate that the camera showed, in hex; empty if none
// was.
func (d *dialer) Certificate() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

// armedConn is a connection on which no read waits for ever. gortsplib sets no read deadline, so a
// peer that accepts TCP and never answers the TLS handshake would hang Describe and Close.
type armedConn struct {
	net.Conn
	idle time.Duration
	in   *bufio.Reader

	mu       sync.Mutex
	disarmed bool
}

func (c *armedConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	if !c.disarmed {
		_ = c.SetReadDeadline(time.Now().Add(c.idle))
	}
	c.mu.Unlock()
	return c.in.Read(b)
}

// readAtOnce is how much one system call may bring: a picture of most streams. gortsplib asks for
// 4 kB at a time.
const readAtOnce = 32 << 10

func (c *armedConn) disarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.disarmed = true
	_ = c.SetReadDeadline(time.Time{})
}

// listenUDP opens a UDP socket with a receive buffer that takes a large keyframe. gortsplib's own
// option fails where the kernel's limit is lower; this takes what it gets.
func listenUDP(network, address string) (net.PacketConn, error) {
	c, err := net.ListenPacket(network, address)
	if err != nil {
		return nil, err
	}
	if u, ok := c.(*net.UDPConn); ok {
		_ = u.SetReadBuffer(2 << 20)
	}
	return c, nil
}

// Connected says whether a TCP connection came about.
func (d *dialer) Connected() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conn != nil
}
