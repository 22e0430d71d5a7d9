package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// mostForPeer is what hostile peers may cost a bridge and its decoder processes, in MiB.
const mostForPeer = 32

// A camera, a service, a webhook's target or a broker that never ends what it says costs the
// bridge, its decoder processes included, no more than 32 MiB, and a good camera keeps its
// pictures. $HOSTILE_FOR makes it last longer than some seconds.
func TestHostilePeers(t *testing.T) {
	if os.Getenv("VMSBRIDGE_TEST_PROGRAMS") != "" {
		t.Skip("figures of an emulated machine say nothing")
	}
	lasts := 6 * time.Second
	if text := os.Getenv("HOSTILE_FOR"); text != "" {
		var err error
		lasts, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	asShipped(t)
	camera := fmt.Sprintf("rtsp://127.0.0.1:%d/cam", harness.Port(t))
	start(t, "camsim", "--listen", strings.Split(camera, "/")[2], "--path", "/cam", "--codec", "h264", "--size",
		"320x176", "--fps", "5", "--length", "20").
		line("camsim ready", time.Minute)
	good := cameraYAML("good", camera, "", "tcp", "", "")

	// Each is one bridge. yaml is its further sections, then its further cameras.
	for name, yaml := range map[string]func(*testing.T, *peers) (sections, cameras string){
		"answers without end":       withoutEnd,
		"fragments without payload": fragments,
		"a broker, MQTT 5, TLS": func(t *testing.T, p *peers) (string, string) {
			return broker(t, p, "5", 0)
		},
		"a broker, MQTT 3.1.1, in the clear": func(t *testing.T, p *peers) (string, string) {
			return broker(t, p, "3.1.1", 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peers{t: t, begin: make(chan struct{})}
			port := harness.Port(t)
			sections, cameras := yaml(t, p)
			s := &site{t: t, dir: t.TempDir(), local: fmt.Sprintf("http://127.0.0.1:%d", port)}
			s.write("lan.token", lanToken)
			s.yaml = s.write("vmsbridge.yaml",
				fmt.Sprintf("bridge: {id: b, account: a, data: %q}\nclock: {wait: 0s}\nstills: {max_size: 64MiB}\n"+
					"api: {listen: \"127.0.0.1:%d\", tokens: [{name: lan, token_file: lan.token}]}\n%s\ncameras:\n%s",
					s.path("bridge"), port, sections, good+cameras))
			s.startBridge()
			until(t, 20*time.Second, "pictures", func() bool { return s.pictures()["good"] > 20 })
			quiet, before := s.bridge.whole(), s.pictures()["good"]
			close(p.begin)
			most := quiet
			for end := time.Now().Add(lasts); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
				most = max(most, s.bridge.whole())
			}
			until(t, 30*time.Second, "all peers to have been met", func() bool { return p.met.Load() >= p.all })
			most = max(most, s.bridge.whole())
			t.Logf("%d MiB before, %d at most; %d peers were met %d times, and sent %d KiB", quiet, most, p.all,
				p.met.Load(), p.sent.Load()>>10)
			require.Less(t, most-quiet, mostForPeer)
			until(t, 20*time.Second, "more pictures of the good camera",
				func() bool { return s.pictures()["good"] > before+10 })
		})
	}
}

// whole is what the bridge and its decoder processes have in memory, in MiB.
func (p *program) whole() int {
	sum := p.resident()
	for _, pid := range p.children() {
		kib, _ := resident(pid)
		sum += kib >> 10
	}
	return sum
}

// peers are hostile. They keep still until begin is closed.
type peers struct {
	t         *testing.T
	begin     chan struct{}
	all       int64
	met, sent atomic.Int64
}

// listen is a peer that has a connection talked to by talk, which ends with the connection.
func (p *peers) listen(talk func(c net.Conn) error) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	p.all++
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				select {
				case <-p.begin:
				case <-p.t.Context().Done():
					return
				}
				p.met.Add(1)
				_ = talk(counted{c, p})
			})
		}
	})
	p.t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return l.Addr().String()
}

// counted counts what is sent, and does not wait for ever for somebody to take it.
type counted struct {
	net.Conn
	p *peers
}

func (c counted) Write(b []byte) (int, error) {
	if err := c.p.t.Context().Err(); err != nil {
		return 0, err // the test is over
	}
	_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
	n, err := c.Conn.Write(b)
	c.p.sent.Add(int64(n))
	return n, err
}

// endless says begins when it is asked something, and goesOn for as long as somebody reads it.
func endless(begins, goesOn string) func(net.Conn) error {
	return func(c net.Conn) error {
		_, err := c.Read(make([]byte, 4096))
		if err == nil {
			_, err = io.WriteString(c, begins)
		}
		for err == nil {
			_, err = io.WriteString(c, goesOn)
		}
		return err
	}
}

// withoutEnd is four cameras, a service and a webhook's target.
func withoutEnd(_ *testing.T, p *peers) (sections, cameras string) {
	rtsp, header := "RTSP/1.0 200 OK\r\nCSeq: 1\r\n", strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 60)
	for i, c := range [][2]string{{rtsp, header}, {rtsp + "X-A: ", strings.Repeat("a", 60_000)},
		{"", "$\x00\xff\xff" + strings.Repeat("z", 65535)},
		{rtsp + "Content-Type: application/sdp\r\nContent-Length: 2000000000\r\n\r\n", "a=x:" +
			strings.Repeat("y", 60_000)}} {
		cameras += fmt.Sprintf("  - {id: c%d, url: \"rtsp://%s/x\"}\n", i, p.listen(endless(c[0], c[1])))
	}
	service := p.listen(endless("HTTP/1.1 200 OK\r\n\r\n{\"a\":\"", strings.Repeat("y", 60_000)))
	hook := p.listen(endless("HTTP/1.1 200 OK\r\n", header))
	return fmt.Sprintf("service: {url: \"http://%s\", token: abcdefabcdefabcdef}\n"+
		"webhooks: [{id: h, secret: 0123456789abcdef0123, url: \"http://%s/x\"}]", service, hook), cameras
}

// fragments is cameras that say that they send H.264 and H.265, and send fragments of NAL units
// that hold nothing and never end, as many as are taken by TCP and as many as the bridge can read
// by UDP.
func fragments(t *testing.T, p *peers) (sections, cameras string) {
	for codec, fragment := range map[string]string{"H264": "\x7c\x05", "H265": "\x62\x01\x13"} {
		for _, transport := range []string{"tcp", "udp"} {
			address := p.listen(func(c net.Conn) error { return fragmentCamera(c, codec, fragment) })
			cameras += cameraYAML(strings.ToLower(codec)+transport, "rtsp://"+address+"/x", "", transport, "", "")
		}
	}
	return "", cameras
}

func fragmentCamera(c net.Conn, codec, fragment string) error {
	sdp := "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 " + codec +
		"/90000\r\na=control:x\r\n"
	var media net.Conn // by UDP
	for buf := make([]byte, 4096); ; {
		n, err := c.Read(buf)
		if err != nil {
			return err
		}
		request := string(buf[:n])
		value := func(name string) string {
			_, after, _ := strings.Cut(request, "\r\n"+name+": ")
			v, _, _ := strings.Cut(after, "\r\n")
			return v
		}
		answer, body := "RTSP/1.0 200 OK\r\nCSeq: "+value("CSeq")+"\r\nSession: 1\r\nPublic: DESCRIBE, SETUP, PLAY, "+
			"TEARDOWN\r\n", ""
		switch method, _, _ := strings.Cut(request, " "); method {
		case "DESCRIBE":
			body = sdp
			answer += fmt.Sprintf("Content-Type: application/sdp\r\nContent-Length: %d\r\n", len(body))
		case "SETUP":
			how := value("Transport")
			var to int
			if _, ports, ok := strings.Cut(how, "client_port="); ok {
				_, _ = fmt.Sscanf(ports, "%d", &to)
				if media, err = net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", to)); err != nil {
					return err
				}
				defer media.Close()
				from := media.LocalAddr().(*net.UDPAddr).Port
				how += fmt.Sprintf(";server_port=%d-%d", from, from+1)
			}
			answer += "Transport: " + how + "\r\n"
		}
		if _, err := io.WriteString(c, answer+"\r\n"+body); err != nil {
			return err
		}
		if strings.HasPrefix(request, "PLAY") {
			return sendFragments(c, media, fragment)
		}
	}
}

// sendFragments sends the first one, and those that follow it: RTP packets of one time, none of
// which is the last.
func sendFragments(c, media net.Conn, fragment string) error {
	packet := append([]byte{0x80, 96, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}, fragment...)
	packet[len(packet)-1] |= 0x80
	for batch, n := []byte(nil), 0; ; n++ {
		packet[2], packet[3] = byte(n>>8), byte(n)
		if media == nil {
			batch = append(append(batch, '$', 0, 0, byte(len(packet))), packet...)
		} else if _, err := media.Write(packet); err == nil {
			c.(counted).p.sent.Add(int64(len(packet)))
		} // else nobody listens yet, or any more
		packet[len(packet)-1] &^= 0x80
		if n%100 == 99 {
			<-time.After(time.Millisecond) // 100,000 a second at most
			if _, err := c.Write(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
}

// broker lets a bridge in and then, at each of four connections in another way, says what has no
// end.
func broker(t *testing.T, p *peers, version string, first int) (sections, cameras string) {
	welcome := map[string]string{"3.1.1": "\x20\x02\x00\x00", "5": "\x20\x03\x00\x00\x00"}[version]
	zeros, huge := strings.Repeat("\x00", 64<<10), "\xff\xff\xff\x7f"
	ways := [][2]string{
		{welcome + "\x40" + huge, zeros},                                            // the longest acknowledgement
		{"\x20" + huge, zeros},                                                      // the longest welcome
		{welcome + "\x40\xff\xff\x03" + zeros[:100], ""},                            // the half of one that is allowed
		{welcome, strings.Repeat("\x40\x02\x00\x01\xd0\x00\x50\x02\x00\x01", 5000)}, // acknowledgements of nothing
		{welcome + "\x30" + huge, zeros},                                            // the longest message
		{"", "\x20\x80\x80\x80\x80\x80\x80\x80"},                                    // a length without end
		{welcome, strings.Repeat("\x40\xfc\xff\x03"+zeros[:65532], 4)},              // the longest allowed, and many
	}
	var config *tls.Config
	url := "mqtt://"
	if version == "5" {
		server := httptest.NewTLSServer(nil)
		t.Cleanup(server.Close)
		config, url = &tls.Config{Certificates: server.TLS.Certificates}, "mqtts://"
		sections = fmt.Sprintf(", tls_fingerprint: %q", fmt.Sprintf("%x", sha256.Sum256(server.Certificate().Raw)))
	}
	var n atomic.Int64
	address := p.listen(func(c net.Conn) error {
		if config != nil {
			c = tls.Server(c, config)
		}
		way := ways[first+int(n.Add(1)-1)%4]
		if way[1] == "" {
			way[1] = "\x00" // the rest comes slowly
			return slowly(c, way[0])
		}
		return endless(way[0], way[1])(c)
	})
	p.all = 4 // each in its turn
	return fmt.Sprintf("mqtt: {url: %q, protocol: %q%s}", url+address, version, sections), ""
}

// slowly says begins, and then a byte now and then.
func slowly(c net.Conn, begins string) error {
	_, err := c.Read(make([]byte, 4096))
	if err == nil {
		_, err = io.WriteString(c, begins)
	}
	for range 20 {
		if err == nil {
			_, err = c.Write([]byte{0})
		}
		<-time.After(50 * time.Millisecond)
	}
	return err
}
