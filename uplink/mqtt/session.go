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
	keepAlive    = 20 * time.Second
	mostInFlight = 32 // messages that wait for their acknowledgement
)

// message is one to publish, with quality of service 1.
type message struct {
	topic    string
	payload  []byte
	retain   bool
	revision uint64 // of the event; which goes with it as a property
}

var errBroken = errors.New("the connection to the broker broke")

// refusedError is what a broker says no to.
type refusedError struct {
	code    byte
	reason  string
	topic   string // of what was published; "" for the connection
	login   bool   // it is about who the bridge is
	message bool   // it is about this one message
	ended   bool   // the broker ended a connection that stood
}

func (e *refusedError) Error() string {
	what := "the broker refuses the connection"
	switch {
	case e.topic != "":
		what = "the broker refuses " + e.topic
	case e.ended:
		what = "the broker ended the connection"
	}
	return fmt.Sprintf("%s: %s (code %#02x)", what, e.reason, e.code)
}

// connect dials and signs in. The will tells of the bridge's absence.
func (b *Broker) connect(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	password := ""
	if b.opts.Password != nil {
		var err error
		if password, err = b.opts.Password(); err != nil {
			return nil, fmt.Errorf("read the broker's password: %w", err)
		}
	}
	d := &net.Dialer{KeepAlive: 30 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", b.addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the broker: %w", err)
	}
	if b.tls != nil {
		secure := tls.Client(conn, b.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("connect to the broker: %w", err)
		}
		conn = secure
	}
	watched := &frames{Conn: conn, hears: b.opts.Arm != nil}
	will := message{topic: b.names.status(), payload: []byte(offline), retain: true}
	s, err := newSession(ctx, watched, b.opts, password, will, b.hear)
	if err != nil {
		_ = conn.Close()
		if fault := watched.fault.Load(); fault != nil {
			err = *fault
		}
		return nil, fmt.Errorf("sign in at the broker: %w", err)
	}
	return s, nil
}
