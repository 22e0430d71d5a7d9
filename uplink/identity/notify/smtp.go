package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"vmsbridge/uplink/identity"
)

// smtp carries mail to one server, a connection a message: they are few.
type smtp struct {
	host    string
	options []mail.Option
	tls     *tls.Config // nil unless the connection begins with TLS
	from    *netmail.Address
	pages   Pages
}

// methods are the ways to tell a password, by the names of the settings. All of them happen within
// TLS.
var methods = map[string]mail.SMTPAuthType{"": mail.SMTPAuthPlain, "plain": mail.SMTPAuthPlain,
	"login":    mail.SMTPAuthLogin,
	"cram-md5": mail.SMTPAuthCramMD5, "scram-sha-256": mail.SMTPAuthSCRAMSHA256}

// The values of security.
const (
	securityStartTLS = "starttls"
	securityTLS      = "tls"
	securityNone     = "none"
)

const portTLS = 465

func newSMTP(s MailSettings, pages Pages) (*smtp, error) {
	host, portText, err := net.SplitHostPort(s.Server)
	port, err2 := strconv.ParseUint(portText, 10, 16)
	if err != nil || err2 != nil || host == "" || port == 0 {
		return nil, errors.New("mail.server must be a host and a port, as in smtp.example.org:587")
	}
	from, err := netmail.ParseAddress(s.From)
	if err != nil {
		return nil, errors.New("mail.from must be an e-mail address, as in Cameras <cameras@example.org>")
	}
	roots, err := certificates(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("mail.ca_file: %w", err)
	}
	config := &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12}
	out := &smtp{host: host, from: from, pages: pages}
	o := []mail.Option{mail.WithPort(int(port)), mail.WithTimeout(s.Timeout.or(defaultTimeout)),
		mail.WithTLSConfig(config)}
	if s.Security == "" {
		s.Security = securityStartTLS
		if port == portTLS {
			s.Security = securityTLS
		}
	}
	switch s.Security {
	case securityStartTLS:
		o = append(o, mail.WithTLSPolicy(mail.TLSMandatory))
	case securityTLS:
		out.tls = config
		o = append(o, mail.WithSSL())
	case securityNone:
		if s.User != "" {
			return nil, errors.New("mail.security is none: a password would be sent in plain; " +
				"use starttls or tls, or leave user out")
		}
		o = append(o, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, errors.New("mail.security must be starttls, tls or none")
	}
	if s.User != "" {
		if s.password == "" {
			return nil, errors.New("mail.user needs mail.password_file")
		}
		method, ok := methods[s.Auth]
		if !ok {
			return nil, errors.New("mail.auth must be plain, login, cram-md5 or scram-sha-256")
		}
		o = append(o, mail.WithSMTPAuth(method), mail.WithUsername(s.User), mail.WithPassword(s.password))
	}
	if s.Helo != "" {
		o = append(o, mail.WithHELO(s.Helo))
	}
	out.options = o
	if _, err := mail.NewClient(host, o...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return out, nil
}

// certificates reads a file of certificates, nil for none.
func certificates(name string) (*x509.CertPool, error) {
	if name == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("the file holds no certificate in PEM form")
	}
	return pool, nil
}

// send hands a message to the server. A refusal of this message, rather than of all, is a refusal.
func (s *smtp) send(ctx context.Context, l Message) error {
	subject, body, err := s.pages.write(l)
	if err != nil {
		return refusal{err}
	}
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	m.FromMailAddress(s.from)
	if err := m.To(l.To); err != nil {
		return refusal{errors.New("the address cannot be written to")}
	}
	m.Subject(subject)
	m.SetDateWithValue(time.Now())
	m.SetMessageIDWithValue(identity.NewToken(24) + "@" + domain(s.from.Address))
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: nobody should answer it by machine
	m.SetBodyString(mail.TypeTextPlain, body)
	if len(l.Picture) > 0 {
		if err := m.AttachReader("camera.jpg", bytes.NewReader(l.Picture),
			mail.WithFileContentType("image/jpeg")); err != nil {
			return refusal{errors.New("the picture cannot be attached")}
		}
	}

	dial, hangUp := s.dialer(ctx)
	defer hangUp()
	c, err := mail.NewClient(s.host, append(slices.Clone(s.options), mail.WithDialContextFunc(dial))...)
	if err != nil {
		return fmt.Errorf("prepare mail: %w", err)
	}
	conn, err := c.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("reach mail server: %w", err)
	}
	err = c.SendWithSMTPClient(conn, m)
	// The message is with the server already, or is not; how the server takes leave changes
	// nothing.
	_ = c.CloseWithSMTPClient(conn)
	var failed *mail.SendError
	if errors.As(err, &failed) && failed.ErrorCode() >= 500 {
		return refusal{fmt.Errorf("the mail server refuses the message: %d %s", failed.ErrorCode(),
			failed.EnhancedStatusCode())}
	}
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}

// dialer is how the library connects, so that the connection can be cut when ctx is done: it would
// wait for an answer otherwise. hangUp closes what is still open.
func (s *smtp) dialer(ctx context.Context) (dial mail.DialContextFunc, hangUp func()) {
	var undo []func()
	dial = func(within context.Context, network, address string) (net.Conn, error) {
		plain, err := (&net.Dialer{}).DialContext(within, network, address)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = plain.Close() })
		undo = append(undo, func() { stop(); _ = plain.Close() })
		if s.tls == nil {
			return plain, nil
		}
		conn := tls.Client(plain, s.tls)
		return conn, conn.HandshakeContext(within)
	}
	return dial, func() {
		for _, f := range undo {
			f()
		}
	}
}

func domain(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '@' {
			return address[i+1:]
		}
	}
	return "localhost"
}
