package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// resident is what a process has in memory, in MiB.
func (p *program) resident() int {
	p.t.Helper()
	kib, _ := resident(p.cmd.Process.Pid)
	require.NotZero(p.t, kib)
	return kib >> 10
}

// mostOf watches what a process has in memory until stop is called, which tells the most that was
// seen.
func mostOf(p *program) (stop func() int) {
	most, done := p.resident(), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				most = max(most, p.resident())
			}
		}
	})
	return func() int { close(done); watching.Wait(); return max(most, p.resident()) }
}

// crowd is how many strangers come at once, and mostForStrangers what they may cost, in MiB.
const (
	crowd            = 2000
	mostForStrangers = 64
)

// Two thousand strangers who send half of what they announce cost neither program more than 64 MiB,
// which it gives back when they have gone; whoever else asks is answered meanwhile, and the camera
// loses nothing.
func TestACrowdOfStrangers(t *testing.T) {
	if os.Getenv("VMSBRIDGE_TEST_PROGRAMS") != "" {
		t.Skip("figures of an emulated machine say nothing")
	}
	asShipped(t)
	camera := fmt.Sprintf("rtsp://127.0.0.1:%d/cam", harness.Port(t))
	start(t, "camsim", "--listen", strings.Split(camera, "/")[2], "--path", "/cam", "--codec", "mjpeg", "--size",
		"320x176", "--fps", "5").line("camsim ready", time.Minute)
	s := newSite(t, cameraYAML("gate", camera, "", "tcp", "", ""))
	s.startBridge()
	until(t, 20*time.Second, "pictures", func() bool { return s.pictures()["gate"] > 5 })

	body := "POST /g/user HTTP/1.1\r\nHost: x\r\nContent-Length: 1040000\r\n\r\n" + strings.Repeat("{", 1030000)
	head := "GET /g/user HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 55)
	for _, to := range []struct {
		name, address string
		p             *program
	}{{"bridge", s.local, s.bridge}, {"service", s.service, s.cloud}} {
		for _, c := range []struct{ name, half string }{{"bodies", body}, {"bodies of 8 kB", body[:8<<10]},
			{"heads", head}} {
			before := to.p.resident()
			stop := mostOf(to.p)
			leave := gather(t, strings.TrimPrefix(to.address, "http://"), func(conn net.Conn) {
				_, _ = io.WriteString(conn, c.half) // which may be cut off
			})
			code, _, _ := get(t, to.address+"/healthz", "")
			require.Equal(t, 200, code)
			most := stop()
			leave()
			t.Logf("%s, %s: %d MiB before, %d at most", to.name, c.name, before, most)
			require.Less(t, most-before, mostForStrangers, "%s of %d strangers at the %s", c.name, crowd, to.name)
			until(t, 20*time.Second, "the memory to be given back",
				func() bool { return to.p.resident()-before < mostForStrangers/3 })
		}
	}
	require.NotContains(t, s.bridge.output(), "state=stale")
	require.Len(t, s.events("gate", vms.TypeDeviceStatus), 1, "the camera was online all the time")
}

// The same holds for those who come by TLS and HTTP/2, whether they keep to the limit that they are
// told of or not: who was answered holds as much as who waits, and who has left holds nothing.
func TestACrowdOverHTTP2(t *testing.T) {
	if os.Getenv("VMSBRIDGE_TEST_PROGRAMS") != "" {
		t.Skip("figures of an emulated machine say nothing")
	}
	asShipped(t)
	dir := t.TempDir()
	local, service := fmt.Sprintf("127.0.0.1:%d", harness.Port(t)), fmt.Sprintf("127.0.0.1:%d", harness.Port(t))
	file := filepath.Join(dir, "bridge.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "bridge: {data: %q}\napi: {listen: %q, tls: auto}\n",
		filepath.Join(dir, "bridge"), local), 0o600))
	bridge := start(t, "vmsbridge", "run", "--config", file)
	bridge.line("the bridge runs", time.Minute)
	command(t, "vmscloud", "init", "--data", filepath.Join(dir, "cloud"), "--account", "e2e", "--quiet")
	own := filepath.Join(dir, "bridge", "api-certificate.pem")
	until(t, 20*time.Second, "the bridge's certificate", func() bool {
		_, err := os.Stat(own)
		return err == nil
	})
	cloud := start(t, "vmscloud", "run", "--data", filepath.Join(dir, "cloud"), "--listen", service, "--tls-cert", own,
		"--tls-key", own)
	cloud.line("vmscloud serves", time.Minute)
	for _, to := range []struct {
		name, address string
		p             *program
	}{{"bridge", local, bridge}, {"service", service, cloud}} {
		first := to.p.resident()
		for _, requests := range []int{1, 8, 250} { // 8 are allowed
			stop := mostOf(to.p)
			leave := gather(t, to.address, func(c net.Conn) { halfRequests(c, requests) })
			most := stop()
			leave()
			t.Logf("%s, %d requests each: %d MiB before all, %d at most", to.name, requests, first, most)
			require.Less(t, most-first, mostForStrangers, "%d requests each of %d strangers at the %s", requests, crowd,
				to.name)
			until(t, 20*time.Second, "the memory to be given back",
				func() bool { return to.p.resident()-first < mostForStrangers/2 })
		}
	}
}

// halfRequests begins as many requests over TLS and HTTP/2, all at once when the server's limits
// are known, and sends none of the bodies. What fails was cut off.
func halfRequests(raw net.Conn, n int) {
	//nolint:gosec // it is its own certificate
	c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	var out, head bytes.Buffer
	fr := http2.NewFramer(&out, c)
	out.WriteString(http2.ClientPreface)
	_ = fr.WriteSettings()
	if _, err := c.Write(out.Bytes()); err != nil {
		return
	}
	if _, err := fr.ReadFrame(); err != nil {
		return
	}
	out.Reset()
	_ = fr.WriteSettingsAck()
	enc := hpack.NewEncoder(&head)
	for id := range uint32(n) {
		head.Reset()
		for _, f := range [][2]string{{":method", "POST"}, {":scheme", "https"}, {":authority", "x"},
			{":path", "/g/user"}, {"content-length", "1000000"}} {
			_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
		}
		_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*id + 1, BlockFragment: head.Bytes(), EndHeaders: true})
	}
	_, _ = c.Write(out.Bytes())
}

// gather lets a crowd come, each of which sends its half of a request. leave lets it go.
func gather(t *testing.T, address string, send func(net.Conn)) (leave func()) {
	t.Helper()
	var mu sync.Mutex // guards all
	var all []net.Conn
	var coming sync.WaitGroup
	for range 16 {
		coming.Go(func() {
			for range crowd / 16 {
				c, err := net.DialTimeout("tcp", address, 10*time.Second)
				if err != nil {
					continue // it was one too many
				}
				_ = c.SetDeadline(time.Now().Add(2 * time.Second))
				send(c)
				mu.Lock()
				all = append(all, c)
				mu.Unlock()
			}
		})
	}
	coming.Wait()
	require.Greater(t, len(all), crowd/2, "strangers")
	return func() {
		for _, c := range all {
			_ = c.Close()
		}
	}
}
