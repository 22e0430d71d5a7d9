package camera

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/liberrors"
)

// explain turns an error of the RTSP client into a state and a sentence. It is the one place where
// this is decided.
func (s *session) explain(during string, err error) *Failure {
	if f := s.explainSignIn(during, err); f != nil {
		return f
	}
	if f := s.explainTransport(err); f != nil {
		return f
	}
	if s.t.secure {
		if f := s.explainTLS(err); f != nil {
			return f
		}
	}
	var code liberrors.ErrClientBadStatusCode
	if errors.As(err, &code) {
		return s.explainCode(during, code, err)
	}
	if f := s.explainNetwork(during, err); f != nil {
		return f
	}
	var (
		noType  liberrors.ErrClientContentTypeMissing
		badType liberrors.ErrClientContentTypeUnsupported
		badSDP  liberrors.ErrClientSDPInvalid
	)
	switch {
	case errors.As(err, &badSDP) && !s.unread.Load():
		if o := s.offers.Load(); o != nil {
			return noChoice(*o)
		}
		fallthrough
	case errors.As(err, &noType), errors.As(err, &badType), s.unread.Load():
		return failf(NoVideo, err, "The camera's description of the stream cannot be read. Check that the URL is "+
			"that of a camera's video stream.")
	}
	return failf(Refused, err, "The camera does not answer as RTSP asks (%s: %s). Check port and path of the URL, "+
		"and the camera's firmware.", during, s.t.clean(err.Error()))
}

func (s *session) explainSignIn(during string, err error) *Failure {
	var code liberrors.ErrClientBadStatusCode
	var setup liberrors.ErrClientAuthSetup
	denied := errors.As(err, &code) && code.Code == base.StatusUnauthorized
	if !denied && !errors.As(err, &setup) {
		return nil
	}
	switch signIn := s.signIn.Outcome(); {
	case signIn.OnlyBasic:
		return failf(InsecureSignIn, err, "The camera asks for the password in clear text (Basic). Switch on digest "+
			"sign-in in the camera, or use rtsps, or set allow_insecure_basic: true for this camera.")
	case signIn.Unknown:
		return failf(Refused, err, "The camera asks for a kind of sign-in that is not known here. Switch on digest "+
			"sign-in in the camera.")
	case signIn.Accepted:
		f := failf(Refused, err, "The camera signed us in and then refused %s with the same credentials. Check that "+
			"the user may view live video.", during)
		f.immediate = true // usually a nonce that ran out
		return f
	case s.t.Username == "" && s.t.Password == "":
		return failf(InvalidCredentials, err,
			"The camera asks for a user name and a password. Set username and password for this camera.")
	}
	return failf(InvalidCredentials, err, "The camera refuses the user name or the password. Check username and "+
		"password for this camera; the next attempt waits so that the camera does not lock the account.")
}

func (s *session) explainTransport(err error) *Failure {
	var (
		code      liberrors.ErrClientBadStatusCode
		wantsTCP  liberrors.ErrClientServerRequestedTCP
		wantsUDP  liberrors.ErrClientServerRequestedUDP
		noPorts   liberrors.ErrClientServerPortsNotProvided
		udpSilent liberrors.ErrClientUDPTimeout
	)
	name := strings.TrimPrefix(s.transportName(), "tls+")
	switch {
	case errors.As(err, &code) && code.Code == base.StatusUnsupportedTransport, errors.As(err, &wantsTCP),
		errors.As(err, &wantsUDP):
		f := failf(TransportRefused, err, "The camera refuses the transport %s. Set transport: auto for this camera.",
			name)
		f.fallback = true
		return f
	case errors.As(err, &noPorts):
		f := failf(TransportRefused, err,
			"The camera does not say from which UDP ports it sends. Set transport: tcp for this camera.")
		f.fallback = true
		return f
	case errors.As(err, &udpSilent):
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.packets > 0 {
			f := failf(Stale, err, "No packet has come from the camera for a while. It is connected again.")
			f.immediate = true
			return f
		}
		f := failf(TransportRefused, err,
			"The camera plays, but no packet arrives by %s. Set transport: auto or tcp, or let UDP pass the firewall.",
			name)
		f.fallback = s.transport == gortsplib.TransportUDP
		return f
	case strings.Contains(err.Error(), "unable to setup secure UDP"):
		f := failf(TransportRefused, err, "The camera does not encrypt over UDP. Set transport: tcp for this camera.")
		f.fallback = true
		return f
	}
	return nil
}

func (s *session) explainTLS(err error) *Failure {
	seen := s.dialer.Certificate()
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		unknown   x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		timeout   net.Error
		isTimeout = errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, errNoAnswer)
	)
	const trust = " Compare this fingerprint with the one that the camera shows, then set tls_fingerprint: %s for " +
		"this camera (or tls_insecure: true to trust any certificate)."
	switch {
	case errors.Is(err, errFingerprint):
		return failf(TLSError, err, "The camera's certificate is not the expected one; its fingerprint is %s. Set "+
			"tls_fingerprint to it if the certificate was renewed.", seen)
	case errors.As(err, &host):
		return failf(TLSError, err, "The camera's certificate is not for this host name."+trust, seen)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return failf(TLSError, err, "The camera's certificate is out of date, or this machine's clock is wrong."+trust,
			seen)
	case errors.As(err, &unknown), errors.As(err, &invalid):
		return failf(TLSError, err, "The camera's certificate is signed by nobody known here."+trust, seen)
	case errors.As(err, &record):
		return failf(TLSError, err, "The camera does not speak TLS on this port. Use rtsp:// or the camera's rtsps "+
			"port (usually 322).")
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return failf(TLSError, err, "The encrypted connection to the camera did not come about (%s). Update the "+
			"camera's firmware, or use rtsp://.", s.t.clean(err.Error()))
	case seen == "" && isTimeout && s.dialer.Connected():
		return failf(TLSError, err, "The camera accepts the connection but does not answer the TLS handshake. Check "+
			"the port; rtsps is usually 322.")
	case seen == "" && errors.Is(err, io.EOF) && s.dialer.Connected():
		return failf(TLSError, err, "The camera closes the encrypted connection at once. Check the port; rtsps is "+
			"usually 322.")
	}
	return nil
}

func (s *session) explainCode(during string, code liberrors.ErrClientBadStatusCode, err error) *Failure {
	said := s.t.clean(code.Message)
	switch code.Code {
	case base.StatusNotFound, base.StatusGone:
		return failf(NotFound, err, "The camera knows no stream at this path. Check the path of the URL (vmsbridge "+
			"discover shows the camera's own).")
	case base.StatusForbidden:
		return failf(Refused, err, "The camera forbids this stream (403). Give the user the right to view live video.")
	case base.StatusNotEnoughBandwidth, base.StatusServiceUnavailable:
		return failf(Refused, err, "The camera is busy (%d %s). Close other viewers or raise the number of streams "+
			"it allows.", code.Code, said)
	case base.StatusSessionNotFound:
		f := failf(Refused, err, "The camera lost the session during %s. It is connected again.", during)
		f.immediate = true
		return f
	}
	return failf(Refused, err, "The camera refused %s (%d %s). Check the URL and the camera's settings.", during,
		code.Code, said)
}

func (s *session) explainNetwork(during string, err error) *Failure {
	host := s.t.url.Host
	var (
		dns        *net.DNSError
		tcpSilent  liberrors.ErrClientTCPTimeout
		slow       liberrors.ErrClientRequestTimedOut
		terminated liberrors.ErrClientTerminated
		op         *net.OpError
		netErr     net.Error
	)
	switch {
	case errors.Is(err, errRedirected):
		return failf(Refused, err, "The camera sends us to another host (%s). Set the URL to that address if it is "+
			"right; credentials are not sent there unasked.",
			s.t.clean(strings.TrimPrefix(err.Error(), errRedirected.Error()+": ")))
	case errors.As(err, &dns):
		return failf(Unreachable, err, "The host name %s cannot be resolved. Check the URL and the DNS server, or "+
			"use the camera's IP address.", s.t.url.Hostname())
	case errors.As(err, &op) && op.Op == "dial" || !s.dialer.Connected():
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return failf(Unreachable, err, "Nothing answers at %s: the connection is refused. Check that the camera "+
				"is on, that RTSP is switched on in it, and the port.", host)
		case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
			return failf(Unreachable, err,
				"There is no way to %s. Check the camera's power and cable, and this machine's network.", host)
		}
		return failf(Unreachable, err, "The camera at %s does not answer. Check its power, cable and address.", host)
	case errors.As(err, &tcpSilent):
		f := failf(Stale, err, "No packet has come from the camera for %s. It is connected again.",
			s.t.StaleAfter.Round(time.Second))
		f.immediate = true
		return f
	case errors.As(err, &slow), errors.Is(err, errNoAnswer), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &netErr) && netErr.Timeout():
		return failf(Unreachable, err, "The camera accepts the connection but does not answer %s. Check that this is "+
			"its RTSP port, or restart the camera.", during)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed), errors.As(err, &terminated):
		f := failf(Disconnected, err, "The camera closed the connection during %s. It is connected again.", during)
		f.immediate = during == "stream"
		return f
	}
	return nil
}
