package fuzz

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzMQTT is a broker that takes a bridge in and then answers its events in all wrong ways.
func FuzzMQTT(f *testing.F) {
	dir := needs(f)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	f.Cleanup(func() { _ = l.Close() })
	yaml := func(n int) string {
		return fmt.Sprintf("mqtt: {url: \"mqtt://%s\", username: u, password: %s, client_id: client-%d}\ncameras: []\n",
			l.Addr(), secret, n)
	}
	b := startBridge(f, dir, "account-1", yaml(0))
	for i := range 6 {
		f.Add([]byte{byte(i)})
	}
	n := 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		all.try(t, input, func(t *trial, in *tape) {
			n++
			post(t, b)
			b.reload(t, yaml(n))
			require.NoError(t, l.(*net.TCPListener).SetDeadline(time.Now().Add(answerPatience)))
			conn, err := l.Accept()
			if err != nil {
				b.sound(t)
				t.Fatalf("%s HANGS: it dials the broker no more: %v; %s", b.name(), err, b.stands())
			}
			defer conn.Close()
			(&broker{t: t, in: in, conn: conn}).talk()
			_ = conn.Close()
			b.sound(t)
			answers(t, b.process)
		})
	})
}

// broker is a hostile one, in one connection.
type broker struct {
	t    *trial
	in   *tape
	conn net.Conn
}

// Types of packets, as the first byte has them.
const (
	connack = 0x20
	publish = 0x30
	puback  = 0x40
)

// talk welcomes the bridge, most of the time rightly, and answers what it publishes.
func (b *broker) talk() {
	_ = b.conn.SetDeadline(time.Now().Add(2 * time.Second))
	from := bufio.NewReader(b.conn)
	if _, _, err := readPacket(from); err != nil {
		return
	}
	welcome := []byte{0, 0, 0} // no session, success, no properties
	if b.in.below(2) == 0 {
		welcome = append([]byte{b.in.byte() & 1, b.in.one([]string{"\x00", "\x00", "\x87", "\x88", "\xff"})[0]},
			b.properties()...)
	}
	b.send(connack, welcome)
	for range 1 + b.in.below(8) {
		_ = b.conn.SetReadDeadline(time.Now().Add(150 * time.Millisecond))
		kind, body, err := readPacket(from)
		if err != nil && b.in.below(2) == 0 {
			return
		}
		answer := []byte{0, b.in.byte(), b.in.byte()}
		if kind&0xf0 == publish && len(body) > 2 {
			if at := 2 + int(binary.BigEndian.Uint16(body)); at+2 <= len(body) {
				answer = []byte{body[at], body[at+1], 0} // which message is taken
			}
		}
		switch b.in.below(4) {
		case 0:
			answer = answer[:b.in.below(3)]
		case 1:
			answer[2] = b.in.byte() // the reason
			answer = append(answer, b.properties()...)
		case 2:
			answer = append(answer, b.properties()...)
		}
		what := byte(puback)
		if b.in.below(4) == 0 {
			what = b.in.byte()
		}
		b.send(what, answer)
	}
	_ = b.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = io.Copy(io.Discard, from)
}

// send sends a packet whose length may be wrong.
func (b *broker) send(kind byte, body []byte) {
	if b.in.sometimes(6) {
		body = damage(b.in, body)
	}
	length := uint64(len(body))
	switch {
	case b.in.sometimes(10):
		length = uint64(b.in.below(1 << 28))
	case b.in.sometimes(40):
		length = 1<<35 - 1 // longer than a length may be
	}
	packet := []byte{kind}
	for ; length > 127; length >>= 7 {
		packet = append(packet, byte(length)|0x80)
	}
	packet = append(append(packet, byte(length)), body...)
	b.t.Did("the broker sends %.200x", packet)
	_, _ = b.conn.Write(packet) // the bridge may have gone
}

// properties are some of version 5's, with their length.
func (b *broker) properties() []byte {
	var list []byte
	for range b.in.below(4) {
		id := b.in.one([]string{"\x1f", "\x26", "\x21", "\x22", "\x24", "\x25", "\x27", "\x13", "\x11", "\x12", "\x1a",
			"\x1c", "\x15", "\x16", "\x28", "\x2a", "\x00", "\x80"})[0]
		list = append(list, id)
		switch id {
		case 0x1f, 0x12, 0x1a, 0x1c, 0x15, 0x16: // a text
			text := b.in.value([]string{"why", secret, "", "\x00"})
			text = text[:min(len(text), 65535)]
			list = append(binary.BigEndian.AppendUint16(list, uint16(len(text))), text...)
		default:
			list = append(list, b.in.some(4)...)
		}
	}
	length := len(list)
	if b.in.sometimes(8) {
		length = b.in.below(1 << 20)
	}
	var head []byte
	for ; length > 127; length >>= 7 {
		head = append(head, byte(length)|0x80)
	}
	return append(append(head, byte(length)), list...)
}

// readPacket reads what the bridge sends, which is right.
func readPacket(in *bufio.Reader) (kind byte, body []byte, err error) {
	if kind, err = in.ReadByte(); err != nil {
		return 0, nil, err
	}
	length, err := binary.ReadUvarint(in)
	if err != nil {
		return 0, nil, err
	}
	body = make([]byte, min(length, 1<<20))
	_, err = io.ReadFull(in, body)
	return kind, body, err
}
