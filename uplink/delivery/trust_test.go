package delivery_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/delivery"
)

// A proxy that repeats the password with which it was asked makes no error that holds it.
func TestProxyAnswer(t *testing.T) {
	for code, say := range map[int]string{407: "another user name or password (407)", 403: "no connection (403)"} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			require.NotEmpty(t, r.Header.Get("Proxy-Authorization"))
			c, _, err := w.(http.Hijacker).Hijack()
			require.NoError(t, err)
			defer c.Close()
			_, _ = c.Write([]byte("HTTP/1.1 " + map[int]string{407: "407", 403: "403"}[code] +
				" not with hunter2\r\nContent-Length: 7\r\n\r\nhunter2"))
		}))
		defer proxy.Close()
		to, err := url.Parse(proxy.URL)
		require.NoError(t, err)
		to.User = url.UserPassword("user", "hunter2")
		c := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(to),
			OnProxyConnectResponse: delivery.ProxyAnswer}}
		_, err = c.Get("https://service.invalid/")
		require.ErrorContains(t, err, say)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestTrustNeedsWhatItNames(t *testing.T) {
	_, err := delivery.Trust(t.TempDir()+"/none.pem", "")
	require.ErrorContains(t, err, "read certificate authorities")
	_, err = delivery.Trust("trust_test.go", "")
	require.ErrorContains(t, err, "holds no certificate")
	_, err = delivery.Trust("", "abc")
	require.ErrorContains(t, err, "SHA-256")
	c, err := delivery.Trust("", "")
	require.NoError(t, err)
	require.False(t, c.InsecureSkipVerify)
}
