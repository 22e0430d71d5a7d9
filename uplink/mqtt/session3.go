package mqtt

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

// session3 speaks version 3.1.1.
type session3 struct {
	client paho.Client
	gone   chan struct{}
}

func newSession3(ctx context.Context, conn net.Conn, o Options, password string, will message) (*session3, error) {
	s := &session3{gone: make(chan struct{})}
	once := sync.OnceFunc(func() { close(s.gone) })
	c := paho.NewClientOptions()
	c.AddBroker("tcp://broker") // it wants one, but the connection stands already
	c.SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return conn, nil })
	c.SetProtocolVersion(4)
	c.SetClientID(o.ClientID).SetUsername(o.Username).SetPassword(password)
	c.SetCleanSession(true).SetAutoReconnect(false).SetConnectRetry(false)
	c.SetKeepAlive(keepAlive).SetPingTimeout(keepAlive / 2).SetConnectTimeout(dialTimeout).SetWriteTimeout(writeTimeout)
	c.SetBinaryWill(will.topic, will.payload, 1, will.retain)
	c.SetConnectionLostHandler(func(paho.Client, error) { once() })
	s.client = paho.NewClient(c)
	t := s.client.Connect()
	select {
	case <-t.Done():
	case <-ctx.Done():
		_ = conn.Close()
		<-t.Done()
		return nil, ctx.Err()
	}
	if err := t.Error(); err != nil {
		if code := t.(*paho.ConnectToken).ReturnCode(); code != 0 && code != packets.ErrNetworkError {
			login := code == packets.ErrRefusedBadUsernameOrPassword || code == packets.ErrRefusedNotAuthorised
			return nil, &refusedError{code: code, reason: packets.ConnackReturnCodes[code], login: login}
		}
		return nil, err
	}
	return s, nil
}

func (s *session3) publish(ctx context.Context, list []message) (acked int, err error) {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	flying := make([]paho.Token, 0, mostInFlight)
	for len(list) > 0 || len(flying) > 0 {
		if len(list) > 0 && len(flying) < mostInFlight {
			m := list[0]
			list, flying = list[1:], append(flying, s.client.Publish(m.topic, 1, m.retain, m.payload))
			continue
		}
		select {
		case <-flying[0].Done():
			if err := flying[0].Error(); err != nil {
				return acked, err
			}
			flying = flying[1:]
			acked++
		case <-s.gone:
			return acked, errBroken
		case <-ctx.Done():
			return acked, fmt.Errorf("wait for the broker's acknowledgement: %w", ctx.Err())
		}
	}
	return acked, nil
}

func (s *session3) lost() <-chan struct{} { return s.gone }

// why knows nothing: this version has no word for it.
func (s *session3) why() error { return errBroken }

func (s *session3) close() { s.client.Disconnect(250) }
