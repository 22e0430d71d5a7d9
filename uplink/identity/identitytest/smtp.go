package identitytest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

//go:embed smtpd.py
var script string

// Mail is a mail as the server got it.
type Mail struct {
	To            []string          `json:"to"`
	Sender        string            `json:"sender"`
	Subject       string            `json:"subject"`
	Text          string            `json:"text"`
	Headers       map[string]string `json:"headers"`
	TLS           bool              `json:"tls"`
	Authenticated bool              `json:"authenticated"`
	// "silent" when a recipient silent@… was named; everything else is empty then
	Event string `json:"event"`
}

// SMTPServer is a server that runs until the test ends.
type SMTPServer struct {
	Port   int
	CAFile string // its certificate
	mails  chan Mail
}

// python is the interpreter that Debian's packages are installed for.
const python = "/usr/bin/python3"

// StartSMTP runs a server: security is starttls, tls or none; with a user it takes mail only after
// AUTH. The test is skipped where the package is not installed.
func StartSMTP(t testing.TB, security, user, password string) *SMTPServer {
	t.Helper()
	if err := exec.Command(python, "-c", "import aiosmtpd").Run(); err != nil {
		t.Skip("python3-aiosmtpd is not installed: run scripts/deps")
	}
	dir := t.TempDir()
	s := &SMTPServer{CAFile: filepath.Join(dir, "cert.pem"), mails: make(chan Mail, 64)}
	key := filepath.Join(dir, "key.pem")
	certificate(t, s.CAFile, key)
	cmd := exec.Command(python, "-c", script, security, s.CAFile, key, user, password)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	first, err := lines.ReadBytes('\n')
	require.NoError(t, err, "the server did not start")
	require.NoError(t, json.Unmarshal(first, s))
	read := make(chan struct{})
	go func() {
		defer close(read)
		for {
			line, err := lines.ReadBytes('\n')
			var l Mail
			if err != nil || json.Unmarshal(line, &l) != nil {
				return
			}
			s.mails <- l
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		<-read
		_ = cmd.Wait()
	})
	return s
}

// Address is host and port.
func (s *SMTPServer) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// Next waits for a message.
func (s *SMTPServer) Next(t testing.TB) Mail {
	t.Helper()
	select {
	case l := <-s.mails:
		return l
	case <-time.After(time.Minute):
		require.Fail(t, "no message arrived")
		return Mail{}
	}
}

// Waiting is how many messages arrived that nobody asked for yet.
func (s *SMTPServer) Waiting() int { return len(s.mails) }

// certificate writes a certificate for localhost that signs itself.
func certificate(t testing.TB, cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: raw}} {
		require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
}
