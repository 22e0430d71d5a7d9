package mqtt

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
)

// session is one connection to the broker, in version 5. One goroutine, but for lost and why.
type session struct {
	conn   *frames
	client *paho.Client
	sent   *sentPinger
	ended  chan *refusedError // buffered 1: why the broker ended the connection, if it said so
	reason func() error

	password string
}

// sentPinger is the library's pinger that also tells when a packet was written, so that the next
// can follow before the first is acknowledged, and yet behind it.
type sentPinger struct {
	*paho.DefaultPinger
	written chan struct{} // buffered 1; one publisher at a time waits for it
}

func (p *sentPinger) PacketSent() {
	p.DefaultPinger.PacketSent()
	select {
	case p.written <- struct{}{}:
	default:
	}
}

func newSession(ctx context.Context, conn *frames, o Options, password string, will message,
	hear func(topic string, payload []byte)) (*session, error) {
	s := &session{conn: conn, sent: &sentPinger{paho.NewDefaultPinger(), make(chan struct{}, 1)},
		ended: make(chan *refusedError, 1), password: password}
	s.reason = sync.OnceValue(s.wait)
	s.client = paho.NewClient(paho.ClientConfig{
		Conn:          packets.NewThreadSafeConn(conn),
		PingHandler:   s.sent,
		PacketTimeout: ackTimeout,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			if !p.Packet.Retain { // what lies there is nobody's wish of now
				hear(p.Packet.Topic, p.Packet.Payload)
			}
			return true, nil
		}},
		OnServerDisconnect: func(d *paho.Disconnect) {
			s.ended <- &refusedError{code: d.ReasonCode, reason: reasons[d.ReasonCode], ended: true}
		},
		OnClientError: func(error) {},
		AuthHandler:   noAuth{},
	})
	receive := uint16(16) // it sets aside room for so many that it never gets
	c := &paho.Connect{ClientID: o.ClientID, KeepAlive: uint16(keepAlive / time.Second), CleanStart: true,
		Properties:  &paho.ConnectProperties{ReceiveMaximum: &receive, RequestProblemInfo: true},
		WillMessage: &paho.WillMessage{Retain: will.retain, QoS: 1, Topic: will.topic, Payload: will.payload}}
	if o.Username != "" {
		c.Username, c.UsernameFlag = o.Username, true
	}
	if password != "" {
		c.Password, c.PasswordFlag = []byte(password), true
	}
	ack, err := s.client.Connect(ctx, c)
	if ack != nil && ack.ReasonCode >= 0x80 {
		reason := reasons[ack.ReasonCode]
		if ack.Properties != nil && ack.Properties.ReasonString != "" {
			reason = s.clean(ack.Properties.ReasonString)
		}
		return nil, &refusedError{code: ack.ReasonCode, reason: reason, login: ack.ReasonCode == 0x86 ||
			ack.ReasonCode == 0x87}
	}
	if err != nil {
		return nil, err
	}
	if ack.Properties != nil && ack.Properties.AuthMethod != "" {
		return nil, fmt.Errorf("%w: it took the bridge in by a method of authentication that the bridge did not offer",
			errNoBroker)
	}
	return s, nil
}

// mostReason bounds how much is told of a reason that a broker gives, in bytes.
const mostReason = 200

// clean is a reason as a broker gives it, without the password, should the broker repeat that.
func (s *session) clean(reason string) string {
	if s.password != "" {
		reason = strings.ReplaceAll(reason, s.password, "***")
	}
	return strings.ToValidUTF8(reason[:min(len(reason), mostReason)], "")
}

// noAuth is there because the library calls one without looking, from a goroutine of its own, when
// a broker's welcome names a method of authentication. frames lets no AUTH packet through.
type noAuth struct{}

func (noAuth) Authenticate(*paho.Auth) *paho.Auth { return &paho.Auth{} }
func (noAuth) Authenticated()                     {}

// takenOver is the reason for which a broker ends the connection of the one who came before with
// the same client id.
const takenOver = 0x8e

// reasons are those of CONNACK, PUBACK and DISCONNECT that a bridge may meet (MQTT 5.0, §2.4).
var reasons = map[byte]string{
	0x80: "unspecified error", 0x81: "malformed packet", 0x82: "protocol error", 0x83: "implementation specific error",
	0x84: "it does not know this version of the protocol",
	0x85: "client identifier not valid", 0x86: "bad user name or password", 0x87: "not authorized",
	0x88: "server unavailable", 0x89: "server busy",
	0x8a: "banned", 0x8b: "server shutting down", 0x8d: "keep alive timeout", takenOver: "session taken over",
	0x90: "topic name invalid", 0x95: "packet too large", 0x97: "quota exceeded", 0x99: "payload format invalid",
	0x9a: "retain not supported",
	0x9b: "quality of service not supported", 0x9c: "use another server", 0x9d: "server moved",
	0x9f: "connection rate exceeded",
}

// publish hands messages over in their order, and returns when the broker has acknowledged all. If
// it cannot, acked is how many of them, from the first on, were acknowledged.
func (s *session) publish(ctx context.Context, list []message) (acked int, err error) {
	defer func() {
		if fault := s.conn.fault.Load(); fault != nil && err != nil {
			err = *fault
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	// The library forgets who waits for an acknowledgement when the connection breaks.
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.client.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	defer func() { cancel(); <-watched }()
	type landing struct {
		i   int
		err error
	}
	acks := make(chan landing, len(list))
	flying, landed := 0, make([]bool, len(list))
	land := func(l landing) {
		flying--
		if landed[l.i] = l.err == nil; err == nil && l.err != nil {
			err = l.err
			cancel() // nothing may follow what was not taken
		}
	}
	for i, m := range list {
		for flying == mostInFlight && err == nil {
			land(<-acks)
		}
		if err != nil {
			break
		}
		select {
		case <-s.sent.written: // left by one that was acknowledged at once
		default:
		}
		flying++
		go func() { acks <- landing{i, s.one(ctx, m)} }() // waited for below
		for written := false; !written && err == nil && flying > 0; {
			select {
			case <-s.sent.written:
				written = true
			case l := <-acks: // of this one or of one before it
				land(l)
			}
		}
	}
	for flying > 0 {
		land(<-acks)
	}
	for acked < len(list) && landed[acked] {
		acked++
	}
	return acked, err
}

// one publishes a message and waits for its acknowledgement.
func (s *session) one(ctx context.Context, m message) error {
	p := &paho.Publish{QoS: 1, Retain: m.retain, Topic: m.topic, Payload: m.payload}
	if m.revision != 0 {
		p.Properties = &paho.PublishProperties{ContentType: "application/json",
			User: paho.UserProperties{{Key: "revision", Value: strconv.FormatUint(m.revision, 10)}}}
	}
	r, err := s.client.Publish(ctx, p)
	if err == nil {
		return nil
	}
	if r != nil && r.ReasonCode >= 0x80 {
		refused := &refusedError{code: r.ReasonCode, reason: reasons[r.ReasonCode], topic: m.topic,
			message: r.ReasonCode != 0x87 && r.ReasonCode != 0x97}
		if r.Properties != nil && r.Properties.ReasonString != "" {
			refused.reason = s.clean(r.Properties.ReasonString)
		}
		return refused
	}
	select {
	case <-s.client.Done():
		return errBroken
	default:
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("wait for the broker's acknowledgement: %w", ctx.Err())
	}
	return err
}

// subscribe has the broker send what is published on these topics from now on.
func (s *session) subscribe(ctx context.Context, topics []string) error {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	var wish paho.Subscribe
	for _, t := range topics {
		wish.Subscriptions = append(wish.Subscriptions, paho.SubscribeOptions{Topic: t, QoS: 1, RetainHandling: 2,
			RetainAsPublished: true})
	}
	if _, err := s.client.Subscribe(ctx, &wish); err != nil {
		return fmt.Errorf("subscribe at the broker: %s", s.clean(err.Error()))
	}
	return nil
}

// lost is closed when the connection is no more. why is then what is known of the reason.
func (s *session) lost() <-chan struct{} { return s.client.Done() }

// why is safe for concurrent use.
func (s *session) why() error {
	if fault := s.conn.fault.Load(); fault != nil {
		return *fault
	}
	return s.reason()
}

// wait waits for a moment for what the broker said: the library tells of it after the end.
func (s *session) wait() error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case e := <-s.ended:
		return e
	case <-timer.C:
		return errBroken
	}
}

// close ends it in good order, so that the broker does not publish the will.
func (s *session) close() {
	_ = s.client.Disconnect(&paho.Disconnect{ReasonCode: 0})
	<-s.client.Done()
}
