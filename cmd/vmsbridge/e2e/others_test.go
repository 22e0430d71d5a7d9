package e2e

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestProgramsOfOthers sends both servers what programs that know nothing of us send, in their own
// ways of writing it: a script in Python (isoformat, an unescaped plus), one with Node's fetch, a
// page of an application with libraries that add headers, Home Assistant's generic camera, curl.
func TestProgramsOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""))
	s.startBridge()
	until(t, 90*time.Second, "a motion at the service",
		func() bool { return len(s.events("gate", vms.TypeMotion)) > 0 })
	const micro = "2006-01-02T15:04:05.000000+00:00"
	from, to := time.Now().UTC().Add(-time.Hour).Format(micro), time.Now().UTC().Add(time.Hour).Format(micro)
	list := "/api/v3.0/events?actor=camera:gate&pageSize=1&startTimestamp__gte="
	for _, at := range []struct{ base, token string }{{s.service, s.token}, {s.local, lanToken}} {
		bearer := []string{"Authorization", "Bearer " + at.token}
		basic := []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("ha:"+at.token))}
		until(t, 60*time.Second, "a picture, at the service through the tunnel", func() bool {
			code, _, _ := get(t, at.base+vms.PathLiveImage+"?deviceId=gate", at.token)
			return code == http.StatusOK
		})
		for _, c := range []struct {
			name, method, path string
			header             []string
			body               string
			code               int
			media, has         string
		}{
			{"Python, plus as it is", "GET", list + from + "&endTimestamp__lte=" + to, bearer, "", 200,
				"application/json", `"totalSize"`},
			{"Python, quoted", "GET",
				list + url.QueryEscape(from) + "&endTimestamp__lte=" + url.QueryEscape(to), bearer, "", 200,
				"application/json", vms.TypeMotion},
			{"Python, without an offset", "GET", list + from[:26] + "&endTimestamp__lte=" + to, bearer, "", 400,
				"application/json", "with an offset, such as"},
			{"Python, other names of types", "GET", list + from + "&startTimestamp__lte=" + to +
				"&type__in=een.motionDetectionEvent.v1&include=een.objectDetection.v1", bearer, "", 200,
				"application/json", "vms.objectDetection.v1"},
			{"Node, Z", "GET", list + from[:23] + "Z&startTimestamp__lte=2100-01-01T00:00:00Z",
				append([]string{"Accept", "*/*", "Accept-Language", "*", "Sec-Fetch-Mode", "cors"}, bearer...), "", 200,
				"application/json", vms.TypeMotion},
			{"Node, a subscription in JSON with a charset", "POST", "/api/v3.0/eventSubscriptions",
				append([]string{"Content-Type", "application/json;charset=UTF-8"}, bearer...),
				`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:gate"],"types":[]}]}`, 201,
				"application/json", `"sseUrl"`},
			{"a page, before it asks", "OPTIONS", "/api/v3.0/cameras", []string{"Origin", "https://app.example",
				"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers",
				"authorization,traceparent,x-requested-with"}, "", 204, "", ""},
			{"a page, a slash at the end", "GET", "/api/v3.0/cameras/?include=status&include=tags",
				append([]string{"Origin", "https://app.example", "X-Requested-With", "XMLHttpRequest"}, bearer...), "",
				200, "application/json", `"tags":[]`},
			{"a page, where the paths are", "GET", "/.well-known/oauth-authorization-server", nil, "", 200,
				"application/json; charset=utf-8", `"token_endpoint"`},
			{"a page, a token that has ended", "GET", "/api/v3.0/users/self", []string{"Authorization", "Bearer x"},
				"", 401, "application/json", `"unauthenticated"`},
			{"Home Assistant, asked first", "GET", "/snapshot/gate.jpg", nil, "", 401, "text/plain; charset=utf-8", ""},
			{"Home Assistant, basic", "GET", "/snapshot/gate.jpg", basic, "", 200, "image/jpeg", "\xff\xd8\xff"},
			{"Home Assistant, head", "HEAD", "/snapshot/gate.jpg", basic, "", 200, "image/jpeg", ""},
			{"curl, a form by mistake", "POST", "/api/v3.0/events",
				append([]string{"Content-Type", "application/x-www-form-urlencoded"}, bearer...), "{}", 0,
				"application/json", `"details"`},
			{"curl, an empty list", "GET", list + "1999-01-01T00:00Z&endTimestamp__lte=1999-01-02T00:00:00.5%2B01:30",
				bearer, "", 200, "application/json", `{"results":[],"nextPageToken":"","prevPageToken":"","totalSize":0}`},
			{"curl, an id in other letters", "GET", "/api/v3.0/cameras/g%61te", bearer, "", 200, "application/json", `"gate"`},
			{"curl, a body that waits to be asked for", "POST", "/api/v3.0/eventSubscriptions",
				append([]string{"Expect", "100-continue"}, bearer...), `{"deliveryConfig":{"type":"serverSentEvents.v1"}}`,
				201, "application/json", `"sseUrl"`},
			{"a proxy, head", "HEAD", "/api/v3.0/cameras?pageSize=99999999999999999999", bearer, "", 200,
				"application/json", ""},
			{"EEN Roles", "GET", "/api/v3.0/roles?include=permissions%2Cnotes%2Cassignable%2CuserCount", bearer, "",
				200, "application/json", `{"results":[],`},
			{"EEN Roles, one", "GET", "/api/v3.0/roles/1?include=permissions", bearer, "", 404, "application/json",
				`"resource":"roles"`},
			{"a tag picker", "GET", "/api/v3.0/tags?sort=%2Bname", bearer, "", 200, "application/json", `"totalSize":0`},
			{"curl, a wrong path", "GET", "/api/v3.0/camera", bearer, "", 404, "application/json", `"endpointNotFound"`},
			{"curl, a wrong method", "DELETE", "/api/v3.0/cameras/gate", bearer, "", 405,
				"application/json", "GET, PATCH"},
		} {
			r, err := http.NewRequestWithContext(t.Context(), c.method, at.base+c.path, strings.NewReader(c.body))
			require.NoError(t, err)
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			if c.code == 0 { // at the service it is the token's scope that is looked at first
				require.Contains(t, []int{403, 415}, res.StatusCode, c.name)
				c.code = res.StatusCode
			}
			require.Equal(t, c.code, res.StatusCode, "%s at %s: %s", c.name, at.base, body)
			require.Equal(t, c.media, res.Header.Get("Content-Type"), c.name)
			require.Contains(t, string(body), c.has, c.name)
			if strings.HasPrefix(c.path, "/api/") {
				require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"), c.name)
			}
		}
	}
}
