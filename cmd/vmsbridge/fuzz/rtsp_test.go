package fuzz

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
)

// badCameras is how many hostile cameras a bridge has at a time.
const badCameras = 4

// FuzzRTSP is cameras that answer and send what a camera does, damaged here and there. A camera
// beside them keeps its pictures.
func FuzzRTSP(f *testing.F) {
	dir := needs(f)
	var recordings []recording
	for _, codec := range []string{"h264", "h265", "mjpeg"} {
		recordings = append(recordings, record(f, codec))
	}
	port := harness.Port(f)
	camera := start(f, "", "camsim", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--path", "/cam", "--codec", "h264",
		"--size", "320x176", "--length", "20")
	camera.says(f, fmt.Sprintf("rtsp://127.0.0.1:%d/cam", port))
	s := &stage{recordings: recordings}
	s.listen(f)
	yaml := func(n int) string {
		text := fmt.Sprintf("cameras:\n  - {id: good, url: \"rtsp://127.0.0.1:%d/cam\", transport: tcp}\n", port)
		for i := range badCameras {
			text += fmt.Sprintf(
				"  - {id: bad%d, url: \"rtsp://%s/%d/%d\", username: u, password: %s, transport: tcp}\n", i, s.address,
				n, i, secret)
		}
		return text
	}
	b := startBridge(f, dir, "account-1", "cameras: []")
	for i := range 6 {
		f.Add([]byte{byte(i)})
	}
	seen, n := 0.0, 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		all.try(t, input, func(t *trial, in *tape) {
			n++
			played := s.begin(t, in, n)
			b.reload(t, yaml(n))
			select {
			case <-played:
			case <-b.done:
			case <-time.After(answerPatience):
				t.Fatalf("%s HANGS: it does not dial the cameras that it was told of; %s", b.name(), b.stands())
			}
			b.sound(t)
			if n%10 == 0 || !fuzzing() {
				answers(t, b.process)
				end := time.Now().Add(answerPatience)
				for pictures(t, b, "good") <= seen {
					if time.Now().After(end) {
						t.Fatalf("%s HANGS: the good camera gets no more pictures; %s", b.name(), b.stands())
					}
					time.Sleep(50 * time.Millisecond)
				}
				seen = pictures(t, b, "good")
			}
		})
	})
}

// pictures is how many pictures of a camera the bridge has looked at.
func pictures(t testing.TB, b *bridge, camera string) (n float64) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/metrics", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+lanToken)
	res, err := (&http.Client{Timeout: answerPatience}).Do(r)
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

// recording is what a camera said: its description, and RTP packets of two keyframes and more.
type recording struct {
	sdp     string
	packets [][]byte
}

// record asks a simulated camera for its stream.
func record(f *testing.F, codec string) (r recording) {
	address := harness.Address(f)
	camera := start(f, "", "camsim", "--listen", address, "--path", "/cam", "--codec", codec, "--size", "320x176",
		"--fps", "20", "--gop", "15", "--length", "10")
	camera.says(f, "rtsp://"+address+"/cam")
	conn, err := net.Dial("tcp", address)
	require.NoError(f, err)
	defer conn.Close()
	require.NoError(f, conn.SetDeadline(time.Now().Add(answerPatience)))
	in := bufio.NewReader(conn)
	ask := func(method, url, headers string) (textproto.MIMEHeader, string) {
		_, err := fmt.Fprintf(conn, "%s %s RTSP/1.0\r\nCSeq: 1\r\n%s\r\n", method, url, headers)
		require.NoError(f, err)
		text := textproto.NewReader(in)
		status, err := text.ReadLine()
		require.NoError(f, err)
		require.Contains(f, status, " 200 ", method)
		header, err := text.ReadMIMEHeader()
		require.NoError(f, err)
		length, _ := strconv.Atoi(header.Get("Content-Length")) // else there is none
		body := make([]byte, length)
		_, err = io.ReadFull(in, body)
		require.NoError(f, err)
		return header, string(body)
	}
	header, sdp := ask("DESCRIBE", "rtsp://"+address+"/cam", "Accept: application/sdp\r\n")
	_, control, _ := strings.Cut(sdp[strings.Index(sdp, "m=video"):], "a=control:")
	control, _, _ = strings.Cut(control, "\r\n")
	base, err := url.Parse(header.Get("Content-Base"))
	require.NoError(f, err)
	media, err := base.Parse(control)
	require.NoError(f, err)
	header, _ = ask("SETUP", media.String(), "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n")
	session, _, _ := strings.Cut(header.Get("Session"), ";")
	ask("PLAY", "rtsp://"+address+"/cam", "Session: "+session+"\r\n")
	r.sdp = sdp
	for len(r.packets) < 150 {
		head := make([]byte, 4)
		_, err := io.ReadFull(in, head)
		require.NoError(f, err)
		packet := make([]byte, binary.BigEndian.Uint16(head[2:]))
		_, err = io.ReadFull(in, packet)
		require.NoError(f, err)
		if head[0] == '$' && head[1] == 0 {
			r.packets = append(r.packets, packet)
		}
	}
	require.NoError(f, camera.cmd.Process.Kill())
	return r
}

// stage is where the hostile cameras are, at /TRIAL/CAMERA of one address. Who comes for a camera
// of another trial, or a second time, is sent away.
type stage struct {
	recordings []recording
	address    string

	mu     sync.Mutex // guards what is below
	number int
	left   map[string]*tape // by path
	trial  *trial
	played chan struct{}
}

func (s *stage) listen(f *testing.F) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	f.Cleanup(func() { _ = l.Close() })
	s.address = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
}

// begin sets the stage for trial n. The channel is closed when each camera has been seen to the
// end.
func (s *stage) begin(t *trial, in *tape, n int) (played chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number, s.left, s.trial, s.played = badCameras, map[string]*tape{}, t, make(chan struct{})
	for i := range badCameras {
		s.left[fmt.Sprintf("/%d/%d", n, i)] = in.apart()
	}
	return s.played
}

func (s *stage) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	in := bufio.NewReader(conn)
	method, path, cseq, err := readRequest(in)
	if err != nil {
		return
	}
	s.mu.Lock()
	choices, trial, played := s.left[path], s.trial, s.played
	delete(s.left, path)
	s.mu.Unlock()
	if choices == nil {
		return
	}
	p := &player{in: choices, conn: conn, recording: s.recordings[choices.below(len(s.recordings))]}
	// The answers are wrong, or the stream is, or the parameter sets of the description, or all.
	p.answers, p.stream, p.sets = choices.below(3) == 0, choices.below(3) != 0, choices.below(3) == 0
	for err == nil {
		if err = p.answer(method, path, cseq); err == nil && method != "PLAY" {
			method, path, cseq, err = readRequest(in)
		} else {
			break
		}
	}
	trial.Did("%s", strings.Join(p.did, "\n    "))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.played == played {
		if s.number--; s.number == 0 {
			close(played)
		}
	}
}

// readRequest reads a request; path is what the address has between the host and what a media
// stream adds.
func readRequest(in *bufio.Reader) (method, path, cseq string, err error) {
	text := textproto.NewReader(in)
	line, err := text.ReadLine()
	if err != nil {
		return "", "", "", err
	}
	header, err := text.ReadMIMEHeader()
	if err != nil {
		return "", "", "", err
	}
	method, line, _ = strings.Cut(line, " ")
	line, _, _ = strings.Cut(line, " ")
	if u, err := url.Parse(line); err == nil {
		path = u.Path
	}
	return method, path, header.Get("CSeq"), nil
}

// player is a hostile camera in one connection.
type player struct {
	recording             recording
	in                    *tape
	conn                  net.Conn
	answers, stream, sets bool // what is damaged
	did                   []string
}

func (p *player) says(format string, args ...any) {
	p.did = append(p.did, fmt.Sprintf(format, args...))
}

var (
	rtspHeaders = []string{"CSeq", "Content-Length", "Content-Type", "Session", "Transport", "WWW-Authenticate",
		"Content-Base", "Public", "Location", "RTP-Info", "Server", "Date"}
	rtspValues = []string{"1", "2", "3", "application/sdp", "abc;timeout=1", "abc;timeout=0", "abc;timeout=-1", ";",
		"RTP/AVP/TCP;unicast;interleaved=0-1",
		"RTP/AVP/TCP;unicast;interleaved=255-0", "RTP/AVP;unicast;server_port=1-2;client_port=99999-1", `Digest realm="x", nonce="y"`, `Digest realm="`, "Digest", "Digest nonce=",
		`Digest realm="x", nonce="y", algorithm=SHA-256, qop="auth"`, `Basic realm="x"`, "Basic", "DESCRIBE, SETUP, PLAY", "rtsp://127.0.0.1:1/x", "rtsp://[::1", "http://x/", "4294967296",
		"99999999999999999999", "Thu, 01 Jan 1970 00:00:00 GMT", "url=;seq=;rtptime=",
		"url=x;seq=70000;rtptime=99999999999",
		secret, "Digest realm=\"" + secret + "\", nonce=\"y\"", "rtsp://u:" + secret + "@127.0.0.1:1/x"}
	rtspStatus = []string{"401 Unauthorized", "302 Moved", "301 Moved", "404 Not Found", "454 No", "461 No", "503 Busy",
		"999999 X", "x", "200", "-1 OK", "404 " + secret}
	sdpLines = []string{"v=0", "o=- 0 0 IN IP4 0", "s=x", "t=0 0", "m=video 0 RTP/AVP 96", "m=video 0 RTP/AVP 999",
		"m=audio 0 RTP/AVP 0", "m=application 0 RTP/AVP 107", "m=", "a=", "=",
		"a=rtpmap:96 H264/90000", "a=rtpmap:96 H265/90000", "a=rtpmap:96 H264/0", "a=rtpmap:96 H264", "a=rtpmap:",
		"a=rtpmap:96 JPEG/90000", "a=rtpmap:96 MP4V-ES/90000", "a=control:x",
		"a=control:*", "a=control:", "a=control:rtsp://127.0.0.1:1/y", "a=framerate:0", "a=x-dimensions:0,0",
		"a=range:npt=0-", "b=AS:99999999999", "c=IN IP4 224.0.0.1/1", "a=recvonly",
		"a=fmtp:96", "a=fmtp:96 packetization-mode=9", "a=fmtp:96 sprop-parameter-sets=",
		"a=fmtp:96 sprop-parameter-sets=,,", "a=fmtp:96 sprop-vps=////", "a=fmtp:96 sprop-max-don-diff=70000"}
)

// answer answers a request, and after PLAY sends the stream.
func (p *player) answer(method, path, cseq string) error {
	status, body := "200 OK", ""
	headers := []string{"CSeq: " + cseq}
	switch method {
	case "OPTIONS":
		headers = append(headers, "Public: DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER")
	case "DESCRIBE":
		body = p.description()
		headers = append(headers, "Content-Base: rtsp://"+p.conn.LocalAddr().String()+path+"/",
			"Content-Type: application/sdp")
	case "SETUP":
		headers = append(headers, "Session: abc", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
	case "PLAY":
		headers = append(headers, "Session: abc")
	}
	if body != "" {
		headers = append(headers, "Content-Length: "+strconv.Itoa(len(body)))
	}
	hurt := p.answers && p.in.below(3) == 0
	for range p.in.below(4) {
		if !hurt {
			break
		}
		switch at := p.in.below(len(headers)); p.in.below(5) {
		case 0:
			status = p.in.one(rtspStatus)
		case 1:
			headers = slices.Delete(headers, at, at+1)
		case 2:
			name, _, _ := strings.Cut(headers[at], ":")
			headers[at] = name + ": " + p.in.value(rtspValues)
		default:
			headers = append(headers, p.in.one(rtspHeaders)+": "+p.in.value(rtspValues))
		}
		if len(headers) == 0 {
			headers = append(headers, "CSeq: "+cseq)
		}
	}
	answer := []byte("RTSP/1.0 " + status + "\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n" + body)
	if hurt && p.in.sometimes(4) {
		answer = damage(p.in, answer)
	}
	if hurt || p.sets && method == "DESCRIBE" {
		p.says("%s is answered %.1000q", method, answer)
	}
	if _, err := p.conn.Write(answer); err != nil || method != "PLAY" {
		return err
	}
	return p.send()
}

// description is the camera's, with other lines and parameter sets.
func (p *player) description() string {
	lines := strings.Split(strings.TrimSpace(p.recording.sdp), "\r\n")
	for range p.in.below(4) {
		if !p.answers {
			break
		}
		at := p.in.below(len(lines))
		switch p.in.below(4) {
		case 0:
			lines[at] = p.in.one(sdpLines)
		case 1:
			lines[at] = lines[at][:min(len(lines[at]), p.in.below(40))]
		case 2:
			lines[at] = string(damage(p.in, []byte(lines[at])))
		default:
			lines = slices.Insert(lines, at, p.in.one(sdpLines))
		}
	}
	if p.sets {
		for i, line := range lines {
			if strings.HasPrefix(line, "a=fmtp:") {
				lines[i] = p.spoilSets(line)
			}
		}
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}

// spoilSets damages the parameter sets in a line of the description.
func (p *player) spoilSets(line string) string {
	head, values, _ := strings.Cut(line, " ")
	settings := strings.Split(values, ";")
	for i, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		if !strings.Contains(name, "sprop-") || p.in.below(2) == 0 {
			continue
		}
		sets := strings.Split(value, ",")
		for j, set := range sets {
			if raw, err := base64.StdEncoding.DecodeString(set); err == nil {
				sets[j] = base64.StdEncoding.EncodeToString(shorten(p.in, damage(p.in, raw)))
			}
		}
		settings[i] = name + "=" + strings.Join(sets, ",")
	}
	return head + " " + strings.Join(settings, ";")
}

// shorten leaves of bytes the beginning, now and then.
func shorten(in *tape, b []byte) []byte {
	if in.below(3) == 0 {
		b = b[:min(len(b), in.below(12))]
	}
	return b
}

// send sends the packets, some of them damaged, and waits a little for what comes of it.
func (p *player) send() error {
	packets := slices.Clone(p.recording.packets)[:20+p.in.below(len(p.recording.packets)-20)]
	hurt := 0
	if p.stream {
		hurt = 1 + p.in.below(12)
	}
	for range hurt {
		at := p.in.below(len(packets))
		b := bytes.Clone(packets[at])
		if len(b) < 14 {
			continue
		}
		how := p.in.below(12)
		switch how {
		case 0:
			packets = slices.Delete(packets, at, at+1)
			p.says("packet %d goes", at)
			continue
		case 1:
			packets = slices.Insert(packets, at, b)
			p.says("packet %d comes twice", at)
			continue
		case 2:
			b[0] = p.in.byte() // version, padding, extension, sources
		case 3:
			b[1] ^= 0x80 // marker
		case 4:
			b[1] = p.in.byte()
		case 5:
			copy(b[4:8], []byte{p.in.byte(), p.in.byte(), p.in.byte(), p.in.byte()}) // time
		case 6:
			b[2+p.in.below(2)] = p.in.byte() // sequence
		case 7:
			b = b[:12+p.in.below(4)] // next to nothing
		case 8:
			b[12] = p.in.byte() // what the payload is
		case 9:
			b[13] = p.in.byte() // beginning and end of a fragment
		case 10:
			b = append(b[:12:12], p.in.some(40)...)
		default:
			b = append(b[:12:12], damage(p.in, b[12:])...)
		}
		p.says("packet %d, in way %d, is now %.40x", at, how, b)
		packets[at] = b
	}
	var out []byte
	for _, b := range packets {
		if len(b) > 65535 {
			b = b[:65535]
		}
		out = append(binary.BigEndian.AppendUint16(append(out, '$', 0), uint16(len(b))), b...)
		if p.stream && p.in.sometimes(64) {
			junk := p.in.some(40)
			out = append(append(out, '$', byte(p.in.below(4)), 0, byte(len(junk))), junk...)
		}
	}
	if _, err := p.conn.Write(out); err != nil {
		return err
	}
	// It is read by now; what is made of it takes a little longer.
	_ = p.conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = io.Copy(io.Discard, p.conn)
	return nil
}
