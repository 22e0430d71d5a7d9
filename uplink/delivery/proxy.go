package delivery

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// ProxyAnswer is an http.Transport's OnProxyConnectResponse: it says what a proxy answers that
// makes no connection. Its own words are left out, since they may hold what it was asked with.
func ProxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	switch code := res.StatusCode; code {
	case http.StatusOK:
		return nil
	case http.StatusProxyAuthRequired:
		return fmt.Errorf("the proxy wants another user name or password (%d): correct it in HTTPS_PROXY", code)
	default:
		return fmt.Errorf("the proxy makes no connection (%d)", code)
	}
}
