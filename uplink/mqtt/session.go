package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	dialTimeout  = 15 * time.Second
	ackTimeout   = 20 * time.Second // for a message to be acknowledged
	writeTimeout = 3 * time.Second  // for a message to be written, under 3.1.1; the library does not notice a broken connection before
	keepAlive    = 20 * time.Second
	mostInFlight = 32 // messages that wait for their acknowledgement
)

// message is one to publish, with quality of service 1.
type message struct {
	topic    string
	payload  []byte
	retain   bool
	revision uint64 // of the event; told to those who speak version 5
}

// session is one connection to the broker, of either version. One goroutine, but for lost.
type session interface {
	// publish hands messages over in their order, and returns when the broker has acknowledged all. If it cannot, acked is how
	// many of them, from the first on, were acknowledged.
	publish(ctx context.Context, list []message) (acked int, err error)
	// lost is closed when the connection is no more. why is then what is known of the reason.
	lost() <-chan struct{}
	why() error
	// close ends it in good order, so that the broker does not publish the will.
	close()
}

var errBroken = errors.New("the connection to the broker broke")

// refusedError is what a broker says no to.
type refusedError struct {
	code    byte
	reason  string
	topic   string // of what was published; "" for the connection
	login   bool   // it is about who the bridge is
	message bool   // it is about this one message
}

func (e *refusedError) Error() string {
	what := "the broker refuses the connection"
	if e.topic != "" {
		what = "the broker refuses " + e.topic
	}
	return fmt.Sprintf("%s: %s (code %#02x)", what, e.reason, e.code)
}

// connect dials and signs in. The will tells of the bridge's absence.
func (h *Home) connect(ctx context.Context) (session, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	password := ""
	if h.opts.Password != nil {
		var err error
		if password, err = h.opts.Password(); err != nil {
			return nil, fmt.Errorf("read the broker's password: %w", err)
		}
	}
	d := &net.Dialer{KeepAlive: 30 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", h.addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the broker: %w", err)
	}
	if h.tls != nil {
		secure := tls.Client(conn, h.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("connect to the broker: %w", err)
		}
		conn = secure
	}
	watched := &frames{Conn: conn}
	conn = watched
	will := message{topic: h.names.status(), payload: []byte(offline), retain: true}
	var s session
	if h.opts.Protocol == Version311 {
		s, err = newSession3(ctx, conn, h.opts, password, will)
	} else {
		s, err = newSession5(ctx, conn, h.opts, password, will)
	}
	if err != nil {
		_ = conn.Close()
		if fault := watched.fault.Load(); fault != nil {
			err = *fault
		}
		return nil, fmt.Errorf("sign in at the broker: %w", err)
	}
	return framed{s, watched}, nil
}
