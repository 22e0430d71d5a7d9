package identitytest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browserAt is a browser at an address of this machine, with a memory for cookies.
func browserAt(t testing.TB, address string) *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	tr := &http.Transport{DialContext: d.DialContext}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Jar: jar, Timeout: time.Minute}
}

func post(ctx context.Context, c *http.Client, address string, fields ...string) (code int, token string) {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, ""
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := c.Do(r)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	var out struct {
		Token string `json:"token"`
	}
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	_ = json.Unmarshal(raw, &out)
	return res.StatusCode, out.Token
}

// GuessFromManyAddresses lets 24 addresses guess a user's password at a running program four times
// a second each, while its owner signs in so many times at a known device and as often at fresh
// addresses, each at the first try. It returns how many guesses were looked at.
func GuessFromManyAddresses(t testing.TB, base, email, password string, rounds int) (looked int) {
	t.Helper()
	signIn := func(c *http.Client) int {
		code, token := post(t.Context(), c, base+"/g/aaa/authenticate", "username", email, "password", password)
		if code != http.StatusOK {
			return code
		}
		code, _ = post(t.Context(), c, base+"/g/aaa/authorize", "token", token)
		return code
	}
	home := browserAt(t, "127.0.9.1")
	require.Equal(t, http.StatusOK, signIn(home))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	var guesses atomic.Int64
	for i := range 24 {
		guesser := browserAt(t, fmt.Sprintf("127.0.1.%d", i+1))
		all.Go(func() {
			for ctx.Err() == nil {
				if code, _ := post(ctx, guesser, base+"/g/aaa/authenticate", "username", email, "password",
					"wrong wrong 1"); code == http.StatusUnauthorized {
					guesses.Add(1)
				}
				select {
				case <-ctx.Done():
				case <-time.After(250 * time.Millisecond): // a pace, not a wait for something
				}
			}
		})
	}
	for i := range rounds {
		require.Equal(t, http.StatusOK, signIn(home), "known device, %d", i)
		require.Equal(t, http.StatusOK, signIn(browserAt(t, fmt.Sprintf("127.0.2.%d", i+1))), "fresh address, %d", i)
	}
	stop()
	all.Wait()
	return int(guesses.Load())
}
