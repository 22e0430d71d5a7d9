package server

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/sync/errgroup"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// endpoints are all paths of GET, with what they need.
var endpoints = []string{
	"/api/v3.0/events?actor=camera:cam-1" + window,
	"/api/v3.0/events/some-id",
	"/api/v3.0/events:listFieldValues?actor=camera:cam-1",
	"/api/v3.0/events:listRecentByType?actor=camera:cam-1&type__in=" + vms.TypeMotion,
	"/api/v3.0/eventTypes",
	"/api/v3.0/media/recordedImage.jpeg?deviceId=cam-1&type=main&timestamp=2026-11-21T07:00:00Z",
	"/api/v3.0/media/recordedImage.jpeg:listFieldValues?deviceId=cam-1",
	"/api/v3.0/clientSettings",
	"/api/v3.0/cameras",
	"/api/v3.0/cameras/cam-1",
	"/api/v3.0/users/self",
}

// Every endpoint wants a token, and says so before it looks at anything else.
func TestUnauthenticated(t *testing.T) {
	b := newBed(t)
	b.images = track(0)
	for _, path := range endpoints {
		base, _, _ := strings.Cut(path, "?")
		for name, header := range map[string]string{"none": "", "empty": "Bearer ", "wrong": "Bearer nonsense",
			"basic": "Basic " + tokenUser,
			"bare":  tokenUser, "two": "Bearer " + tokenUser + " " + tokenUser, "prefix": "Bearer " + tokenUser[:5]} {
			t.Run(name+" "+base, func(t *testing.T) {
				b.t = t
				r := b.do("GET", base+"?zebra=1", "", "", "Authorization", header)
				r.refused(401, vms.ReasonUnauthenticated)
				require.Contains(t, r.header.Get("WWW-Authenticate"), "Bearer")
				require.NotContains(t, string(r.body), tokenUser)
			})
		}
		b.t = t
		require.NotEqual(t, 401, b.get(path).code, path)
	}
	b.do("POST", "/api/v3.0/events", "", "").refused(401, vms.ReasonUnauthenticated)
	b.do("POST", "/api/v3.0/bridges:register", "", "").refused(401, vms.ReasonUnauthenticated)
}

// A token store that is broken is not the client's fault, and its words are not the client's
// business.
func TestBrokenTokenStore(t *testing.T) {
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: brokenAuth{}})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/api/v3.0/cameras", nil)
	r.Header.Set("Authorization", "Bearer x")
	s.ServeHTTP(w, r)
	require.Equal(t, 500, w.Code)
	require.NotContains(t, w.Body.String(), "identity.db")
}

type brokenAuth struct{}

func (brokenAuth) Authenticate(string) (identity.Principal, error) {
	return identity.Principal{}, errors.New("identity.db: input/output error")
}

func TestEveryEndpoint(t *testing.T) {
	b := newBed(t)
	b.images = track(0)
	for _, path := range endpoints {
		base, query, _ := strings.Cut(path, "?")
		t.Run(base, func(t *testing.T) {
			b.t = t
			b.get(base + "/?" + query).header.Get("Content-Type") // a trailing slash is no error
			require.Equal(t, b.get(path).code, b.get(base+"/?"+query).code)
			b.get(path+sep(path)+"zebra=1&ape=2").refused(400, vms.ReasonUnexpected, "Unexpected argument: ape, zebra")

			head := b.do("HEAD", path, tokenUser, "")
			require.Equal(t, b.get(path).code, head.code)
			require.Empty(t, head.body)

			for _, method := range []string{"PUT", "DELETE", "PATCH", "TRACE"} {
				r := b.do(method, path, tokenUser, "")
				r.refused(405, vms.ReasonMethod, "GET")
				require.Contains(t, r.header.Get("Allow"), "GET")
			}
			options := b.do("OPTIONS", path, "", "", "Origin", "https://app.example", "Access-Control-Request-Method",
				"GET",
				"Access-Control-Request-Headers", "authorization")
			require.Equal(t, 204, options.code)
			require.Equal(t, "*", options.header.Get("Access-Control-Allow-Origin"))
			require.Regexp(t, `^Authorization, .*, \*$`, options.header.Get("Access-Control-Allow-Headers"),
				"any header, such as that of a library that traces requests")
			require.Contains(t, options.header.Get("Access-Control-Allow-Methods"), "GET")
			got := b.do("GET", path, tokenUser, "", "Origin", "https://app.example", "Accept", "*/*")
			require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
			require.Contains(t, got.header.Get("Access-Control-Expose-Headers"), "X-Een-Timestamp")
			if strings.Contains(path, "Image.jpeg?") && got.code == 200 {
				require.Regexp(t, "^private, (no-cache|max-age=3600)$", got.header.Get("Cache-Control"))
			} else {
				require.Equal(t, "no-store", got.header.Get("Cache-Control"))
			}
		})
	}
}

func sep(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

func TestUnknownEndpoints(t *testing.T) {
	b := newBed(t)
	for _, path := range []string{"/", "/api", "/api/v3.0", "/api/v3.0/event", "/api/v2/events", "/api/v3.0/events:foo",
		"/api/v3.0/cameras/a/b", "/favicon.ico"} {
		b.get(path).refused(404, vms.ReasonEndpoint)
		b.do("POST", path, "", "{}").refused(404, vms.ReasonEndpoint)
	}
	b.server.opts.Bridges, b.server.opts.Registerer = nil, nil
	s, err := New(b.server.opts)
	require.NoError(t, err)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/api/v3.0/bridges:register", nil))
	require.Equal(t, 404, w.Code, "only vmscloud takes registrations")
}

func TestScopes(t *testing.T) {
	b := newBed(t)
	b.images = track(0)
	for _, path := range endpoints {
		open := strings.Contains(path, "eventTypes") || strings.Contains(path, "clientSettings") ||
			strings.Contains(path, "users/self")
		code := b.do("GET", path, tokenReporter, "").code
		require.Equal(t, open, code != 403, "%s: %d", path, code)
		require.NotEqual(t, 403, b.do("GET", path, tokenReader, "").code, path)
	}
}

func TestEventTypes(t *testing.T) {
	b := newBed(t)
	var page vms.PageOf[vms.EventType]
	r := b.get("/api/v3.0/eventTypes?language=de")
	r.into(200, &page)
	require.Equal(t, "en", r.header.Get("Content-Language"))
	require.Len(t, page.Results, 67)
	require.NotContains(t, string(r.body), "chemas", "the schemas are not part of the answer")
	var seen []string
	for path := "/api/v3.0/eventTypes?pageSize=5"; ; path = "/api/v3.0/eventTypes?pageToken=" +
		url.QueryEscape(page.NextPageToken) {
		b.get(path).into(200, &page)
		require.LessOrEqual(t, len(page.Results), 5, "the size is remembered")
		require.Equal(t, 67, page.TotalSize)
		for _, typ := range page.Results {
			require.NotEmpty(t, typ.Description)
			seen = append(seen, typ.Type)
		}
		if page.NextPageToken == "" {
			break
		}
	}
	require.Equal(t, vms.TypeIDs(), seen)
	b.get("/api/v3.0/eventTypes?pageToken="+url.QueryEscape(page.PrevPageToken)).into(200, &page)
	require.Len(t, page.Results, 5)
	require.Equal(t, vms.TypeIDs()[60:65], []string{page.Results[0].Type, page.Results[1].Type, page.Results[2].Type,
		page.Results[3].Type, page.Results[4].Type})
}

func TestListFieldValues(t *testing.T) {
	b := newBed(t)
	var got map[string][]string
	b.get("/api/v3.0/events:listFieldValues?actor=camera:cam-1").into(200, &got)
	require.Equal(t, map[string][]string{"type": vms.TypeIDs()}, got)
	// The list can be used as it is.
	require.Empty(t,
		b.get("/api/v3.0/events?actor=camera:cam-1&type__in="+strings.Join(got["type"], ",")+window).page().Results)
	b.get("/api/v3.0/events:listFieldValues").refused(400, vms.ReasonMissing, "actor")
	b.get("/api/v3.0/events:listFieldValues?actor=camera:cam-9").refused(404, vms.ReasonResource)
}

func TestCameras(t *testing.T) {
	b := newBed(t)
	var page vms.PageOf[vms.Camera]
	r := b.get("/api/v3.0/cameras?pageSize=1000")
	r.into(200, &page)
	require.Len(t, page.Results, 5)
	require.NotContains(t, string(r.body), "connectionStatus")
	r = b.get("/api/v3.0/cameras?include=status,deviceInfo&pageSize=2")
	r.into(200, &page)
	require.Equal(t, vms.StatusOnline, page.Results[0].Status.ConnectionStatus)
	b.get("/api/v3.0/cameras?pageToken="+url.QueryEscape(page.NextPageToken)).into(200, &page)
	require.Equal(t, "cam-3", page.Results[0].ID)
	require.NotNil(t, page.Results[0].Status, "include is remembered")
	b.do("GET", "/api/v3.0/cameras", tokenRestricted, "").into(200, &page)
	require.Len(t, page.Results, 1)

	var cam vms.Camera
	b.get("/api/v3.0/cameras/cam-2?include=status").into(200, &cam)
	require.Equal(t, "Camera 2", cam.Name)
	require.NotNil(t, cam.Status)
	b.get("/api/v3.0/cameras/cam-9").refused(404, vms.ReasonResource)
	b.do("GET", "/api/v3.0/cameras/cam-2", tokenRestricted, "").refused(404, vms.ReasonResource)
}

func TestSelfAndSettings(t *testing.T) {
	b := newBed(t)
	var user map[string]any
	b.get("/api/v3.0/users/self").into(200, &user)
	for _, k := range []string{"id", "firstName", "lastName", "accountId", "email", "language", "employeeId"} {
		require.Contains(t, user, k)
	}
	require.Equal(t, "acc-1", user["accountId"])
	require.NotContains(t, user, "timeZone")
	b.get("/api/v3.0/users/self?include=timeZone").into(200, &user)
	require.Equal(t, map[string]any{"timeZone": "Europe/Berlin"}, user["timeZone"])

	var settings vms.ClientSettings
	b.get("/api/v3.0/clientSettings").into(200, &settings)
	require.Equal(t, vms.BaseURL{Hostname: "vms.example", Port: 443}, settings.HTTPSBaseURL)
	b.server.base = nil
	b.get("/api/v3.0/clientSettings").into(200, &settings)
	u, err := url.Parse(b.url)
	require.NoError(t, err)
	require.Equal(t, u.Hostname(), settings.HTTPSBaseURL.Hostname)
	require.NotEqual(t, 443, settings.HTTPSBaseURL.Port)
}

func TestRegister(t *testing.T) {
	b := newBed(t)
	const good = `{"id":"bridge-1","name":"Gate","address":"http://10.0.0.2:8480","imageToken":"s3cret","cameras":[{"id":"cam-1","name":"A"}]}`
	r := b.do("POST", "/api/v3.0/bridges:register", tokenBridge, good)
	require.Equal(t, 200, r.code, "%s", r.body)
	require.NotContains(t, string(r.body), "s3cret")
	require.Equal(t, "s3cret", b.bridges.got[0].ImageToken)
	b.do("POST", "/api/v3.0/bridges:register", tokenUser, good).refused(403, vms.ReasonPermission)
	for name, body := range map[string]string{
		"not JSON": "{", "unknown field": `{"id":"b","x":1}`, "no id": `{"cameras":[]}`, "bad id": `{"id":"a/b"}`,
		"other scheme": `{"id":"b","address":"file:///etc/passwd"}`, "no host": `{"id":"b","address":"http://"}`,
		"user info": `{"id":"b","address":"http://u:p@h"}`, "query": `{"id":"b","address":"http://h/?x=1"}`,
		"header injection": `{"id":"b","imageToken":"a\r\nX: y"}`, "camera twice": `{"id":"b","cameras":[{"id":"c"},{"id":"c"}]}`,
		"camera without id": `{"id":"b","cameras":[{"name":"c"}]}`, "bad status": `{"id":"b","cameras":[{"id":"c","connectionStatus":"meh"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			require.Equal(t, 400, b.do("POST", "/api/v3.0/bridges:register", tokenBridge, body).code)
		})
	}
	require.Len(t, b.bridges.got, 1)
	b.t = t
	require.Equal(t, 204, b.do("POST", "/api/v3.0/bridges:leave?bridgeId=bridge-1", tokenBridge, "").code)
	require.Equal(t, []string{"bridge-1"}, b.bridges.left)
	b.do("POST", "/api/v3.0/bridges:leave?bridgeId=bridge-1", tokenUser, "").refused(403, vms.ReasonPermission)
	for _, query := range []string{"", "?bridgeId=..%2f", "?bridgeId=b&x=y"} {
		require.Equal(t, 400, b.do("POST", "/api/v3.0/bridges:leave"+query, tokenBridge, "").code)
	}
	b.bridges.err = vms.NewError(409, vms.ReasonExists, "taken")
	b.do("POST", "/api/v3.0/bridges:register", tokenBridge, good).refused(409, vms.ReasonExists)
	b.do("POST", "/api/v3.0/bridges:leave?bridgeId=bridge-1", tokenBridge, "").refused(409, vms.ReasonExists)
	require.Len(t, b.bridges.left, 1)
}

// A panic in a handler is answered and does not end the program; an error of a store keeps its
// words to itself.
func TestHandlerTrouble(t *testing.T) {
	b := newBed(t)
	b.images = func(ImageQuery) (Image, error) { panic("boom") }
	b.get(imagePath+"deviceId=cam-1&type=main&timestamp__lt=2027-01-01T00:00:00Z").refused(500,
		vms.ReasonUnexpectedError)
	r := b.get("/api/v3.0/events?actor=camera:broken" + window)
	r.refused(500, vms.ReasonUnexpectedError)
	require.NotContains(t, string(r.body), "secret detail")
}

func TestWithToken(t *testing.T) {
	h := WithToken(bedTokens(t), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) }))
	for header, want := range map[string]int{"": 401, "Bearer x": 401, "Bearer " + tokenUser: 299} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Authorization", header)
		h.ServeHTTP(w, r)
		require.Equal(t, want, w.Code)
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(Options{})
	require.Error(t, err)
	for _, base := range []string{"vms.example", "ftp://x", "http://", "://"} {
		_, err = New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: identity.NewFixed(), BaseURL: base})
		require.Error(t, err, base)
	}
}

// A client that sends its body slowly does not hold a connection for ever.
func TestTimeoutsAreSet(t *testing.T) {
	s := NewHTTP(http.NotFoundHandler(), nil)
	for _, d := range []time.Duration{s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout} {
		require.Positive(t, d)
	}
	require.Positive(t, s.MaxHeaderBytes)
}

// A connection of HTTP/2 has so many requests at a time and no more: who has more needs another.
func TestRequestsOfAConnection(t *testing.T) {
	const all = 2*requestsPerConnection + 1
	began, release := make(chan string, all), make(chan struct{})
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewHTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			began <- r.RemoteAddr
			<-release
		}
	}), nil)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	res, err := s.Client().Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 2, res.ProtoMajor)
	var asking errgroup.Group
	for range all {
		asking.Go(func() error {
			res, err := s.Client().Post(s.URL, "", nil)
			if err != nil {
				return err
			}
			return res.Body.Close()
		})
	}
	of := map[string]int{}
	for range all {
		of[<-began]++
	}
	close(release)
	require.NoError(t, asking.Wait())
	require.Greater(t, len(of), 2)
	for _, n := range of {
		require.LessOrEqual(t, n, requestsPerConnection)
	}
}

// What a stranger only announces takes no memory: a frame of HTTP/2 longer than the protocol's
// least limit is refused by its header. net/http makes room for the whole frame before it reads it.
func TestFramesOfAConnection(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.Config = NewHTTP(http.NotFoundHandler(), nil)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	trust := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.NextProtos = []string{"h2"}
	c, err := tls.Dial("tcp", s.Listener.Addr().String(), trust)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	const length = 1 << 20 // of a DATA frame of stream 1, of which nothing is sent
	_, err = c.Write([]byte(http2.ClientPreface +
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + // no settings
		string([]byte{length >> 16 & 0xff, length >> 8 & 0xff, length & 0xff}) + "\x00\x00\x00\x00\x00\x01"))
	require.NoError(t, err)
	said := http2.NewFramer(nil, c)
	for {
		f, err := said.ReadFrame()
		require.NoError(t, err, "the server waits for what was announced")
		if away, ok := f.(*http2.GoAwayFrame); ok {
			require.Equal(t, http2.ErrCodeFrameSize, away.ErrCode)
			return
		}
	}
}

// Whatever the query is, the answer is a list or an error body, never a panic, and an error names a
// reason.
func FuzzListQuery(f *testing.F) {
	for _, q := range []string{"", "actor=camera:cam-1" + window,
		"actor=camera:cam-1&sort=+startTimestamp&pageSize=3&include=data.x" + window,
		"actor__in=camera:a,,camera:b&type__in=een.x.v1", "pageToken=AAAA",
		"startTimestamp__gte=2026-11-21T07:00:00.000+00:00", "a=%zz", "a;b", "pageSize=9e9"} {
		f.Add(q)
	}
	s, err := New(Options{Events: noEvents{}, Cameras: bedCameras{}, Auth: bedTokens(f)})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/api/v3.0/events", nil)
		r.URL.RawQuery = query
		r.Header.Set("Authorization", "Bearer "+tokenUser)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch w.Code {
		case 200, 400, 404:
		case 500:
			if !strings.Contains(query, "broken") {
				t.Fatalf("500 for %q: %s", query, w.Body)
			}
		default:
			t.Fatalf("%d for %q", w.Code, query)
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%q is answered with %q", query, w.Body)
		}
	})
}

type noEvents struct{}

func (noEvents) Put(vms.Event, bool) error                     { return nil }
func (noEvents) Get(_, _ string) (vms.Event, error)            { return vms.Event{}, errors.New("none") }
func (noEvents) List(vms.Query, *vms.Cursor) (vms.Page, error) { return vms.Page{}, nil }

// No token but our own opens, and what opens is what was signed.
func FuzzPageToken(f *testing.F) {
	s := signer{[]byte("key")}
	good, err := s.sign("events", "acc-1", eventsToken{Cursor: vms.Cursor{ID: "x"}})
	require.NoError(f, err)
	f.Add(good)
	f.Add("")
	f.Add("MToxMDA6MTY2MDU3NzAzNjM2Njot")
	f.Add(good[:len(good)-2])
	f.Fuzz(func(t *testing.T, token string) {
		var v eventsToken
		err := s.open("events", "acc-1", token, &v)
		if err == nil && !strings.EqualFold(strings.Trim(token, "\r\n"), good) && v.Cursor.ID != "x" {
			t.Fatalf("%q opens as %+v", token, v)
		}
		if s.open("image", "acc-1", token, &v) == nil || s.open("events", "acc-2", token, &v) == nil ||
			(signer{[]byte("other")}).open("events", "acc-1", token, &v) == nil {
			t.Fatalf("%q opens elsewhere", token)
		}
	})
}
