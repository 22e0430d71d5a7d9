package fuzz

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/tunnel"
)

// FuzzTunnel speaks through tunnels: to the service as a bridge, whose answers to the questions for
// an image are damaged, and to the bridge as a service, whose requests are. In some the frames are
// wrong themselves.
func FuzzTunnel(f *testing.F) {
	dir := needs(f)
	c := startCloud(f, dir)
	register(f, c)
	tunnels := make(chan *websocket.Conn, 16)
	told := make(chan string, 1) // the token with which the bridge may be asked
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ":tunnel") {
			var registered struct{ ImageToken string }
			if json.NewDecoder(r.Body).Decode(&registered) == nil && registered.ImageToken != "" {
				select {
				case told <- registered.ImageToken:
				default: // it stays the same
				}
			}
			_, _ = io.WriteString(w, "{}")
			return
		}
		if ws, err := websocket.Accept(w, r,
			&websocket.AcceptOptions{Subprotocols: []string{tunnel.Subprotocol}}); err == nil {
			tunnels <- ws
		}
	}))
	f.Cleanup(func() { hostile.CloseClientConnections() })
	write(f, filepath.Join(dir, "service.token"), secret)
	yaml := func(n int) string {
		return fmt.Sprintf("service: {url: \"%s/%d\", token_file: service.token}\n"+
			"cameras: [{id: gate, url: \"rtsp://127.0.0.1:1/x\", enabled: false}]\n", hostile.URL, n)
	}
	b := startBridge(f, dir, c.account, yaml(0))
	token := <-told
	for i := range 6 {
		f.Add([]byte{byte(i)})
	}
	n := 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		all.try(t, input, func(t *trial, in *tape) {
			if in.below(2) == 0 {
				ws, _, err := websocket.Dial(t.Context(), c.base+"/api/v3.0/bridges:tunnel?bridgeId=bridge-9",
					&websocket.DialOptions{
						Subprotocols: []string{tunnel.Subprotocol},
						HTTPHeader:   http.Header{"Authorization": {"Bearer " + c.bridge}}})
				if err == nil {
					asBridge(t, in, c, ws)
				}
				c.sound(t)
				answers(t, c.process)
				return
			}
			for len(tunnels) > 0 {
				_ = (<-tunnels).CloseNow() // of the trial before
			}
			n++
			b.reload(t, yaml(n))
			select {
			case ws := <-tunnels:
				asService(t, in, b, ws, token)
			case <-b.done:
			case <-time.After(answerPatience):
				t.Fatalf("%s HANGS: it opens no tunnel any more; %s", b.name(), b.stands())
			}
			b.sound(t)
			answers(t, b.process)
		})
	})
}

// asBridge is asked for images, and answers.
func asBridge(t *trial, in *tape, c *cloud, ws *websocket.Conn) {
	defer func() { _ = ws.CloseNow() }()
	if in.sometimes(4) {
		t.Did("frames to the service")
		frames(t, in, ws)
		return
	}
	mux, err := yamux.Server(websocket.NetConn(t.Context(), ws, websocket.MessageBinary), quietMux())
	require.NoError(t, err)
	defer mux.Close()
	choices := in.apart()
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			stream, err := mux.Accept()
			if err != nil {
				return
			}
			_ = stream.SetDeadline(time.Now().Add(2 * time.Second))
			if r, err := http.ReadRequest(bufio.NewReader(stream)); err == nil {
				answer := badAnswer(choices)
				t.Did("the bridge is asked %s, and answers %.300q", r.URL, answer)
				_, _ = stream.Write(answer)
			}
			_ = stream.Close()
		}
	})
	for _, path := range []string{"recordedImage.jpeg", "recordedImage.jpeg:listFieldValues"} {
		request(t, c.process,
			asked{"GET",
				fmt.Appendf(nil,
					"GET /api/v3.0/media/%s?deviceId=camera-9&type=%s&timestamp__lt=2030-01-01T00:00:00.000%%2B00:00 "+
						"HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"+
						"Authorization: Bearer %s\r\n\r\n", path, in.one([]string{"preview", "main"}), c.user), true})
	}
	_ = mux.Close()
	_ = ws.CloseNow()
	answering.Wait()
}

// asService asks the bridge, most often what a service may.
func asService(t *trial, in *tape, b *bridge, ws *websocket.Conn, token string) {
	defer func() { _ = ws.CloseNow() }()
	if in.sometimes(4) {
		t.Did("frames to the bridge")
		frames(t, in, ws)
		return
	}
	mux, err := yamux.Client(websocket.NetConn(t.Context(), ws, websocket.MessageBinary), quietMux())
	require.NoError(t, err)
	defer mux.Close()
	for range 1 + in.below(24) {
		stream, err := mux.Open()
		if err != nil {
			return
		}
		q := visit(in, token)
		if in.sometimes(4) {
			q = makeRequest(in, []string{"", token, lanToken, "wrong"})
		}
		t.Did("through the tunnel %s is asked %.1500q", b.name(), q.text)
		exchange(t, b.process, stream, q)
	}
}

// visit asks for a camera's stills or its state, as a service does, with arguments that it may not
// have.
func visit(in *tape, token string) asked {
	const images = "/api/v3.0/media/recordedImage.jpeg"
	path := in.one([]string{images, images, images, images + ":listFieldValues", "/api/v3.0/media",
		"/api/v3.0/cameras/gate"})
	query := url.Values{}
	if path != "/api/v3.0/cameras/gate" {
		query.Set("deviceId", "gate")
		query.Set("type", in.one([]string{"preview", "main"}))
	}
	for range in.below(4) {
		name, value := argument(in, path)
		if name != "pageToken" && name != "deviceId" { // with which nothing is looked at
			query.Set(name, value)
		}
	}
	return asked{"GET", fmt.Appendf(nil, "GET %s?%s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"+
		"X-Vms-Camera: gate\r\nAuthorization: Bearer %s\r\n\r\n", path, query.Encode(), token), true}
}

func quietMux() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput, c.EnableKeepAlive = io.Discard, false
	return c
}

// badAnswer is a bridge's answer with a picture, damaged.
func badAnswer(in *tape) []byte {
	body := in.one([]string{"", "\xff\xd8\xff\xd9", "{}", `{"results":[{"type":"preview","deviceId":"camera-9","timestamp":"x"}]}`, `{"error":{}}`, "[", strings.Repeat("x", 100_000)})
	headers := map[string]string{"Content-Length": fmt.Sprint(len(body)),
		"Content-Type":    in.one([]string{"image/jpeg", "application/json", "text/html", "", "x;y=\""}),
		"X-Vms-Timestamp": "2026-01-01T00:00:00.000+00:00"}
	for range in.below(4) {
		headers[in.one([]string{"Content-Length", "Content-Type", "X-Vms-Timestamp", "Transfer-Encoding", "Connection",
			"Location", "Set-Cookie", "Content-Encoding", "Upgrade", "X-Vms-Prev-Token",
			"X-Vms-Next-Token", "ETag", "Content-Disposition", "Trailer"})] = in.value([]string{"chunked", "close",
			"gzip", "identity", "5", "http://127.0.0.1:1/", "2026-01-01T00:00:00.000+00:00", "image/jpeg"})
	}
	text := "HTTP/1.1 " +
		in.one([]string{"200 OK", "200 OK", "200 OK", "404 Not Found", "304 No", "204 No", "101 Switching Protocols",
			"301 Moved", "500 x", "999 x", "0 x", "100 Continue", "x"}) + "\r\n"
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		text += name + ": " + headers[name] + "\r\n"
	}
	answer := []byte(text + "\r\n" + body)
	if in.sometimes(4) {
		answer = damage(in, answer)
	}
	return answer
}

// frames sends frames of yamux, most of them nearly right:
// https://github.com/hashicorp/yamux/blob/master/spec.md
func frames(t *trial, in *tape, ws *websocket.Conn) {
	for range 1 + in.below(20) {
		frame := make([]byte, 12)
		frame[0], frame[1] = byte(in.below(16)/15), byte(in.below(6))
		binary.BigEndian.PutUint16(frame[2:], uint16(in.below(17)))
		binary.BigEndian.PutUint32(frame[4:], uint32(in.below(5)))
		payload := []byte(in.value([]string{"GET /api/v3.0/cameras HTTP/1.1\r\nHost: bridge\r\n\r\n",
			"HTTP/1.1 200 OK\r\n\r\n",
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
		strings.NewReader(`{"id":"bridge-9","name":"x","imageToken":"0123456789abcdef","cameras":[{"id":"camera-9","name":"x","connectionStatus":"online"}]}`))
	require.NoError(f, err)
	r.Header.Set("Authorization", "Bearer "+c.bridge)
	res, err := http.DefaultClient.Do(r)
	require.NoError(f, err)
	require.NoError(f, res.Body.Close())
	require.Equal(f, http.StatusOK, res.StatusCode)
}
