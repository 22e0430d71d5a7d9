package mqtt

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
)

// mostAnswered is the largest packet that a broker may send: acknowledgements, with a reason and
// properties. The client makes room for whatever length a packet says, up to 256 MiB, before any
// of it has come.
const mostAnswered = 64 << 10

// errNoBroker is that the other side sends what no broker does.
var errNoBroker = errors.New("what answers is no MQTT broker")

// frames is a connection on which packets end that are larger than mostAnswered, and messages that
// nobody subscribed to: none, or those of quality of service 2, which a client would keep. It
// follows the fixed headers only (MQTT 5.0, §2.1).
type frames struct {
	net.Conn
	hears  bool // something is subscribed to
	left   int  // bytes of the packet that are still to come
	length int  // of the packet, as far as its header is read
	shift  int  // bits of length that are read
	inside bool
	fault  atomic.Pointer[error] // why nothing more is read
}

// Read reads, and hands out no header that says too much.
func (f *frames) Read(b []byte) (int, error) {
	if fault := f.fault.Load(); fault != nil {
		return 0, *fault
	}
	n, err := f.Conn.Read(b)
	if fault := f.follow(b[:n]); fault != nil {
		f.fault.Store(&fault)
		return 0, fault
	}
	return n, err
}

func (f *frames) follow(b []byte) error {
	const publish, auth = 3, 15
	for len(b) > 0 {
		switch {
		case f.left > 0:
			n := min(f.left, len(b))
			f.left -= n
			b = b[n:]
		case !f.inside:
			if b[0]>>4 == publish && (!f.hears || b[0]>>1&3 == 2) {
				return fmt.Errorf("%w: it sends messages, which nobody asked it for", errNoBroker)
			}
			if b[0]>>4 == auth {
				return fmt.Errorf("%w: it wants to authenticate in a way that the bridge did not offer", errNoBroker)
			}
			f.inside, f.length, f.shift, b = true, 0, 0, b[1:]
		default:
			f.length |= int(b[0]&0x7f) << f.shift
			f.shift += 7
			if f.length > mostAnswered || f.shift >= 28 && b[0] >= 0x80 {
				return fmt.Errorf("%w: it announces a packet of %d bytes or more, and a bridge needs none above %d",
					errNoBroker, f.length, mostAnswered)
			}
			if b[0] < 0x80 {
				f.left, f.inside = f.length, false
			}
			b = b[1:]
		}
	}
	return nil
}
