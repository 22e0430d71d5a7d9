package fuzz

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/tunnel"
)

// next takes the next connection.
func next(t testing.TB, l net.Listener) net.Conn {
	t.Helper()
	require.NoError(t, l.(*net.TCPListener).SetDeadline(time.Now().Add(60*time.Second)))
	conn, err := l.Accept()
	if err != nil {
		t.Fatalf("nobody dials any more: %v\n%s", err, whoHangs())
	}
	return conn
}

func listen(f *testing.F) net.Listener {
	f.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	f.Cleanup(func() { _ = l.Close() })
	return l
}

// pictures is how many pictures of a camera the bridge has looked at.
func pictures(t testing.TB, b *bridge, camera string) (n float64) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/metrics", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+lanToken)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), fmt.Sprintf("vmsbridge_agent_pictures_total{camera=%q} ", camera))
	if found {
		line, _, _ := strings.Cut(after, "\n")
		n, err = strconv.ParseFloat(line, 64)
		require.NoError(t, err)
	}
	return n
}

// FuzzRTSP stands between a camera and a bridge and damages what the camera sends, or is a camera that says anything. A camera
// beside it keeps its pictures.
func FuzzRTSP(f *testing.F) {
	dir := needs(f)
	port := harness.Port(f)
	camera := start(f, "", "camsim", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--path", "/cam", "--codec", "h264", "--length", "20")
	camera.says(f, fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port))
	l := listen(f)
	yaml := func(n int) string {
		return fmt.Sprintf("cameras:\n  - {id: good, url: \"rtsp://127.0.0.1:%d/cam\", transport: tcp}\n"+
			"  - {id: bad, url: \"rtsp://%s/cam?%d\", transport: tcp}\n", port, l.Addr(), n)
	}
	b := startBridge(f, dir, "account-1", yaml(0))
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{0, 1, 200, 0, 7, 4, 9, 1, 1, 1, 1, 1, 1})
	f.Add([]byte{1, 0, 3, 1, 4, 1, 5})
	seen, n := 0.0, 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		input = bytes.Clone(input) // the fuzzer changes it when this returns
		all.try(t, input, func(t *trial) {
			in := &tape{input}
			b.reload(t, yaml(n+1))
			conn := next(t, l)
			if in.below(2) == 0 {
				between(t, in, conn, port)
			} else {
				anyCamera(in, conn)
			}
			_ = conn.Close()
			if n++; n%20 == 0 || !fuzzing() {
				b.sound(t)
				answers(t, b.base)
				require.Eventually(t, func() bool { return pictures(t, b, "good") > seen }, 60*time.Second, 50*time.Millisecond, "the good camera")
				seen = pictures(t, b, "good")
			}
		})
	})
}

// between passes on what both sides say, at most for a second, and damages what the camera sends behind some place.
func between(t testing.TB, in *tape, conn net.Conn, port int) {
	camera, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	require.NoError(t, err)
	defer camera.Close()
	end := time.Now().Add(time.Second)
	_ = conn.SetDeadline(end)
	_ = camera.SetDeadline(end)
	go func() { _, _ = io.Copy(camera, conn) }()
	place, passed, buf := in.below(40_000), 0, make([]byte, 4096)
	for {
		n, err := camera.Read(buf)
		if err != nil {
			return
		}
		b := append([]byte{}, buf[:n]...)
		if passed += n; passed > place && len(in.rest) > 0 {
			b = damage(in, b)
		}
		if _, err := conn.Write(b); err != nil {
			return
		}
	}
}

// anyCamera answers requests with what the tape says.
func anyCamera(in *tape, conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	headers := []string{"CSeq", "Content-Length", "Content-Type", "Session", "Transport", "WWW-Authenticate", "Content-Base", "Public", "Location", "RTP-Info"}
	values := []string{"1", "2", "3", "application/sdp", "abc;timeout=1", "RTP/AVP/TCP;unicast;interleaved=0-1", `Digest realm="x", nonce="y"`,
		`Basic realm="x"`, "DESCRIBE, SETUP, PLAY", "rtsp://127.0.0.1:1/x", "4294967296", "99999999999999999999"}
	sdp := []string{"v=0", "o=- 0 0 IN IP4 0", "s=x", "t=0 0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=rtpmap:96 H265/90000", "a=control:x",
		"a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IAH5WoFAFuQA==,aM48gA==", "m=video 0 RTP/AVP 26", "b=AS:99999999999", "a=fmtp:96 sprop-vps=////"}
	buf := make([]byte, 4096)
	for range 12 {
		if _, err := conn.Read(buf); err != nil {
			return
		}
		var text, body strings.Builder
		fmt.Fprintf(&text, "RTSP/1.0 %s\r\n", in.one([]string{"200 OK", "401 Unauthorized", "302 Moved", "454 No", "999999 X", "x"}))
		for range in.below(8) {
			text.WriteString(in.one(headers) + ": " + in.value(values) + "\r\n")
		}
		for range in.below(16) {
			body.WriteString(in.value(sdp) + "\r\n")
		}
		if in.below(2) == 0 {
			fmt.Fprintf(&text, "Content-Length: %d\r\n", body.Len())
		}
		text.WriteString("\r\n" + body.String())
		for range in.below(20) { // interleaved packets
			payload := in.some(64)
			text.WriteString("$" + string([]byte{byte(in.below(4)), 0, byte(len(payload))}) + string(payload))
		}
		if _, err := conn.Write([]byte(text.String())); err != nil {
			return
		}
	}
}

// FuzzMQTT is a broker that takes a bridge in and then says anything, in both versions of the protocol.
func FuzzMQTT(f *testing.F) {
	dir := needs(f)
	l := listen(f)
	yaml := func(n int) string {
		return fmt.Sprintf("mqtt: {url: \"mqtt://%s\", protocol: %q, client_id: client-%d}\ncameras: []\n", l.Addr(), []string{"5", "3.1.1"}[n%2], n)
	}
	b := startBridge(f, dir, "account-1", yaml(0))
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0x30, 4, 255, 255, 255, 127})
	f.Add([]byte{0, 1, 0x90, 3, 0, 1, 0x80})
	n := 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		input = bytes.Clone(input) // the fuzzer changes it when this returns
		all.try(t, input, func(t *trial) {
			b.reload(t, yaml(n+1))
			in, conn := &tape{input}, next(t, l)
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(700 * time.Millisecond))
			buf := make([]byte, 4096)
			read, err := conn.Read(buf)
			if err != nil {
				return
			}
			welcome := []byte{0x20, 2, 0, 0}
			if at := strings.Index(string(buf[:read]), "MQTT"); at >= 0 && at+4 < read && buf[at+4] == 5 {
				welcome = []byte{0x20, 3, 0, 0, 0}
			}
			if !in.sometimes(8) {
				_, _ = conn.Write(welcome)
			}
			for range 1 + in.below(6) {
				payload := in.some(100)
				packet := []byte{in.byte()}
				switch in.below(3) {
				case 0:
					packet = append(packet, byte(len(payload)))
				case 1:
					packet = append(packet, 255, 255, 255, 127) // the longest that there is
				default:
					packet = append(packet, in.some(4)...)
				}
				if _, err := conn.Write(append(packet, payload...)); err != nil {
					break
				}
			}
			_, _ = io.Copy(io.Discard, conn)
			if n++; n%20 == 0 || !fuzzing() {
				b.sound(t)
				answers(t, b.base)
			}
		})
	})
}

// FuzzTunnel sends frames through a tunnel: to the service as a bridge, and to the bridge as a service.
func FuzzTunnel(f *testing.F) {
	dir := needs(f)
	c := startCloud(f, dir)
	register(f, c)
	tunnels := make(chan *websocket.Conn)
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ":tunnel") {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "{}")
			return
		}
		if ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{tunnel.Subprotocol}}); err == nil {
			tunnels <- ws
		}
	}))
	f.Cleanup(func() { hostile.CloseClientConnections() })
	write(f, filepath.Join(dir, "service.token"), "any")
	yaml := func(n int) string {
		return fmt.Sprintf("service: {url: \"%s/%d\", token_file: service.token}\ncameras: []\n", hostile.URL, n)
	}
	b := startBridge(f, dir, c.account, yaml(0))
	f.Add([]byte{})
	f.Add([]byte{0, 3, 0, 0, 1, 0, 0, 0, 1, 10})
	f.Add([]byte{1, 3, 0, 0, 1, 0, 0, 0, 1, 10, 'G', 'E', 'T', ' '})
	n := 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		input = bytes.Clone(input) // the fuzzer changes it when this returns
		all.try(t, input, func(t *trial) {
			in := &tape{input}
			if in.below(2) == 0 {
				ws, _, err := websocket.Dial(t.Context(), c.base+"/api/v3.0/bridges:tunnel?bridgeId=bridge-9", &websocket.DialOptions{
					Subprotocols: []string{tunnel.Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.bridge}}})
				if err == nil {
					frames(t, in, ws)
				}
			} else {
				b.reload(t, yaml(n+1))
				select {
				case ws := <-tunnels:
					frames(t, in, ws)
				case <-time.After(90 * time.Second):
					t.Fatalf("the bridge opens no tunnel any more\n%s", whoHangs())
				}
			}
			if n++; n%20 == 0 || !fuzzing() {
				c.sound(t)
				b.sound(t)
				answers(t, c.base)
				answers(t, b.base)
			}
		})
	})
}

// frames sends frames of yamux, most of them nearly right: https://github.com/hashicorp/yamux/blob/master/spec.md
func frames(t testing.TB, in *tape, ws *websocket.Conn) {
	defer func() { _ = ws.CloseNow() }()
	for range 1 + in.below(20) {
		frame := make([]byte, 12)
		frame[0], frame[1] = byte(in.below(16)/15), byte(in.below(6))
		binary.BigEndian.PutUint16(frame[2:], uint16(in.below(17)))
		binary.BigEndian.PutUint32(frame[4:], uint32(in.below(5)))
		payload := []byte(in.value([]string{"GET /api/v3.0/cameras HTTP/1.1\r\nHost: bridge\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
			"GET /api/v3.0/media/recordedImage.jpeg HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}))
		switch in.below(3) {
		case 0:
			binary.BigEndian.PutUint32(frame[8:], uint32(len(payload)))
		case 1:
			binary.BigEndian.PutUint32(frame[8:], 1<<32-1)
		default:
			binary.BigEndian.PutUint32(frame[8:], uint32(in.byte())<<in.below(25))
		}
		if ws.Write(t.Context(), websocket.MessageBinary, append(frame, payload...)) != nil {
			return
		}
	}
}

// register makes the bridge known that opens tunnels.
func register(f *testing.F, c *cloud) {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), http.MethodPost, c.base+"/api/v3.0/bridges:register",
		strings.NewReader(`{"id":"bridge-9","name":"x","imageToken":"0123456789abcdef","cameras":[]}`))
	require.NoError(f, err)
	r.Header.Set("Authorization", "Bearer "+c.bridge)
	res, err := http.DefaultClient.Do(r)
	require.NoError(f, err)
	require.NoError(f, res.Body.Close())
	require.Equal(f, http.StatusOK, res.StatusCode)
}
