package serve

import (
	"net"
	"sync"
	"time"
)

// listen wraps the connections, so that faults can reach what the RTSP library would not let us
// change. It also learns the port.
func (s *Server) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	s.bound = l.Addr()
	if n, on := s.fault("ssrc"); on {
		return &tappedListener{l, time.Duration(n) * time.Second}, nil
	}
	return l, nil
}

type tappedListener struct {
	net.Listener
	after time.Duration
}

func (l *tappedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wiretap{Conn: c, after: l.after}, nil
}

// wiretap changes the SSRC of the RTP packets in a connection some time after the first of them.
// gortsplib writes each interleaved frame ('$', channel, length, packet) in one call.
type wiretap struct {
	net.Conn
	after time.Duration

	mu    sync.Mutex
	first time.Time
}

func (w *wiretap) Write(b []byte) (int, error) {
	if len(b) < 4+12 || b[0] != '$' || b[1]%2 != 0 {
		return w.Conn.Write(b)
	}
	w.mu.Lock()
	if w.first.IsZero() {
		w.first = time.Now()
	}
	changed := time.Since(w.first) >= w.after
	w.mu.Unlock()
	if changed {
		b = append([]byte(nil), b...)
		b[4+8] ^= 0x55
	}
	return w.Conn.Write(b)
}
