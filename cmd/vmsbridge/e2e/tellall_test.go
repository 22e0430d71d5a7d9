package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tellAll is a camera that tells passwords wherever an answer has room: its address is returned.
// The path says where: /away in an address to which it sends who asks, /realm in what it asks a
// password for, /status in why it refuses, /control in its description.
func tellAll(t *testing.T, secret string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	own := "rtsp://admin:" + secret + "@" + l.Addr().String()
	sdp := "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=" + secret + "\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:" + own +
		"/control?password=" + secret +
		"\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:" + own + "/control/1?password=" + secret +
		"\r\n"
	answer := func(method, path string) string {
		switch {
		case method == "OPTIONS":
			return "200 OK\r\nPublic: DESCRIBE, SETUP, PLAY, TEARDOWN\r\nServer: tell-all/1.0"
		case strings.HasPrefix(path, "/away"):
			return "302 Moved\r\nLocation: rtsp://admin:" + secret + "@localhost:1/x?password=" + secret
		case strings.HasPrefix(path, "/realm"):
			return "401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"password is " + secret + "\", nonce=\"" +
				secret + "\""
		case strings.HasPrefix(path, "/control") && method == "DESCRIBE":
			return "200 OK\r\nContent-Base: " + own + "/control/\r\nContent-Type: application/sdp"
		default:
			return "403 " + own + " is not for you"
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := textproto.NewReader(bufio.NewReader(c))
				for {
					line, err := r.ReadLine()
					if err != nil {
						return
					}
					head, err := r.ReadMIMEHeader()
					if err != nil {
						return
					}
					n, _ := strconv.Atoi(head.Get("Content-Length"))
					_, _ = io.CopyN(io.Discard, r.R, int64(n))
					words := strings.Fields(line)
					if len(words) != 3 {
						return
					}
					_, path, _ := strings.Cut(strings.TrimPrefix(words[1], "rtsp://"), "/")
					text, body := answer(words[0], "/"+path), ""
					if strings.Contains(text, "application/sdp") {
						body = sdp
					}
					_, _ = fmt.Fprintf(c, "RTSP/1.0 %s\r\nCSeq: %s\r\nContent-Length: %d\r\n\r\n%s", text,
						head.Get("CSeq"), len(body), body)
				}
			}()
		}
	}()
	return "rtsp://" + l.Addr().String()
}
