package mqtt

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A broker that announces packets of 256 MiB, or sends messages that nobody subscribed to, is left,
// with the reason, before anything is made room for.
func TestHostileBroker(t *testing.T) {
	huge := "\xff\xff\xff\x7f"
	const connack = "\x20\x03\x00\x00\x00"
	for name, c := range map[string]struct{ says, problem string }{
		"CONNACK":             {"\x20" + huge, "announces a packet of"},
		"AUTH":                {"\xf0" + huge, "wants to authenticate"},
		"CONNACK of a method": {"\x20\x0a\x00\x00\x07\x15\x00\x04user", "method of authentication"},
		"PUBACK":              {connack + "\x40" + huge, "announces a packet of"},
		"DISCONNECT":          {connack + "\xe0\xff\xff\x07", "announces a packet of"},
		"length without end":  {connack + "\x40\x80\x80\x80\x80\x80", "announces a packet of"},
		"message":             {connack + "\x34\x08\x00\x01a\x00\x01abc", "which nobody asked it for"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s := newSite(t, "mqtt://"+hostile(t, c.says), nil)
			eventually(t, func() bool { return strings.Contains(s.home.Status().LastError, c.problem) })
			require.Contains(t, s.home.Status().Problem, "is the address right?")
			s.stop()
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "of many connections together")
		})
	}
}

// A broker that repeats the password in the reasons that it gives does not bring it into status or
// log; a long reason is cut.
func TestBrokerRepeatsThePassword(t *testing.T) {
	const password = "s3cret-of-the-bridge"
	reason := "no " + password + " " + strings.Repeat("x", 1000)
	property := "\x1f" + string([]byte{byte(len(reason) >> 8), byte(len(reason))}) + reason
	length := func(n int) string { return string([]byte{byte(n)&0x7f | 0x80, byte(n >> 7)}) }
	body := "\x00\x87" + length(len(property)) + property
	s := newSite(t, "mqtt://"+hostile(t, "\x20"+length(len(body))+body), func(o *Options) {
		o.Username, o.Password = "u", func() (string, error) { return password, nil }
	})
	eventually(t, func() bool { return strings.Contains(s.home.Status().LastError, "no ***") })
	require.NotContains(t, s.home.Status().LastError+s.home.Status().Problem, password)
	require.Less(t, len(s.home.Status().LastError), 500)
	s.stop()
}

// hostile answers whatever comes first with what it is to say, and zeros after it for as long as
// somebody reads them.
func hostile(t *testing.T, says string) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				if _, err := c.Read(make([]byte, 1024)); err != nil {
					return
				}
				_, err := io.WriteString(c, says)
				for zeros := make([]byte, 64<<10); err == nil; {
					_, err = c.Write(zeros)
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	return l.Addr().String()
}
