package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/server/openapitest"
	"vmsbridge/uplink/vms"
)

// TestEveryArgumentIsTaken: both servers answer every operation of their documents with the code
// that is named there, alone and with each of its arguments.
func TestEveryArgumentIsTaken(t *testing.T) {
	t.Parallel()
	const user, password = "admin@localhost", "hunter2hunter2"
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", "")+
		cameraYAML("gone", "rtsp://127.0.0.1:1/none", "", "auto", "", ""))
	s.signUp()
	s.startBridge()
	first := strings.TrimSpace(s.read(s.path("bridge/first-user.token")))
	res, err := http.PostForm(s.local+"/g/aaa/reset_password",
		url.Values{"token": {first}, "password": {password}})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	until(t, 90*time.Second, "motions at the service", func() bool { return len(s.events("gate", vms.TypeMotion)) > 1 })

	bridge := strings.TrimSpace(s.read(s.path("bridge.token")))
	for _, w := range []*walk{
		{base: s.service, report: bridge, followed: []string{"accounts", "bridges", "users"}},
		{base: s.local, report: lanToken},
	} {
		name := "bridge"
		if w.report == bridge {
			name = "service"
		}
		t.Run(name, func(t *testing.T) {
			w.t, w.left, w.empty = t, map[string]bool{}, map[string]bool{}
			w.signIn(user, password)
			w.walk(s.account)
			for _, list := range append(w.followed, "cameras", "events", "eventSubscriptions", "eventTypes",
				"feeds", "languages", "tags", "eventSubscriptions/{id}/filters") {
				require.False(t, w.empty[list], "%s had no second page", list)
			}
			require.Empty(t, slices.Sorted(maps.Keys(w.left)), "nobody asked these")
			// Beside the interfaces there is nothing, which each says in its own form.
			for path, want := range map[string]string{"/api": `"code":404`, "/g": `"status_code":404`,
				"/oauth2": `"error":"not_found"`} {
				for _, slash := range []string{"", "/"} {
					r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+path+slash, nil)
					require.NoError(t, err)
					res, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
					require.NoError(t, err)
					body, err := io.ReadAll(res.Body)
					require.NoError(t, err)
					require.NoError(t, res.Body.Close())
					require.Equal(t, 404, res.StatusCode, path+slash)
					require.Contains(t, res.Header.Get("Content-Type"), "application/json", path+slash)
					require.Contains(t, string(body), want, path+slash)
				}
			}
		})
	}
}

// walk asks a server for all that its document has.
type walk struct {
	t            *testing.T
	base, report string // its address, and a token that may report
	session      string
	token        string // of somebody who may do all
	doc          *openapitest.Doc
	left         map[string]bool // operations, and their arguments, that were not asked yet
	empty        map[string]bool // lists of which a page has no next one
	followed     []string        // lists that must have one
}

func (w *walk) signIn(user, password string) {
	var in struct{ Token string }
	w.form("/g/aaa/authenticate", url.Values{"username": {user}, "password": {password}}, &in)
	w.session = keyOf(w.t, w.form("/g/aaa/authorize", url.Values{"token": {in.Token}}, nil))
	var out struct {
		AccessToken string `json:"access_token"`
	}
	w.form("/oauth2/token", url.Values{"grant_type": {"cookie"}, "scope": {"vms.all"}}, &out)
	w.token = out.AccessToken
	w.doc = openapitest.Document(w.t, w.base)
	for pattern, item := range w.doc.Paths.Map() {
		for method, o := range item.Operations() {
			name := method + " " + strings.TrimPrefix(pattern, "/api/v3.0/")
			w.left[name] = true
			for _, arg := range argumentsOf(o) {
				w.left[name+" "+arg] = true
			}
		}
	}
	require.Greater(w.t, len(w.left), 400)
}

func (w *walk) form(path string, fields url.Values, out any) []*http.Cookie {
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.base+path,
		strings.NewReader(fields.Encode()))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w.session != "" {
		r.AddCookie(&http.Cookie{Name: "auth_key", Value: w.session})
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(w.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, 200, res.StatusCode, "%s: %s", path, text)
	if out != nil {
		require.NoError(w.t, json.Unmarshal(text, out))
	}
	return res.Cookies()
}

func argumentsOf(o *openapi3.Operation) (names []string) {
	for _, p := range o.Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			names = append(names, p.Value.Name)
		}
	}
	return names
}

// ask asks an operation as the document names it, and requires the code that it has there. ids
// stand in place of the names in its path, in their order. A body of text is sent as it is, of
// anything else in JSON.
func (w *walk) ask(operation string, ids []string, q url.Values, body any) (http.Header, []byte) {
	w.t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	o := w.doc.Paths.Value("/api/v3.0/" + path).GetOperation(method)
	require.NotNil(w.t, o, operation)
	for _, id := range ids {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:from] + url.PathEscape(id) + path[to+1:]
	}
	address := w.base + "/api/v3.0/" + path
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	raw := []byte(nil)
	if body != nil {
		var err error
		raw, err = json.Marshal(body)
		require.NoError(w.t, err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, address, bytes.NewReader(raw))
	require.NoError(w.t, err)
	token := w.token
	if strings.HasPrefix(path, "bridges:") || path == "events:report" {
		token = w.report
	}
	if !q.Has("signature") {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(w.t, err)
	defer res.Body.Close()
	var answer []byte
	if res.Header.Get("Content-Type") != "text/event-stream" {
		answer, err = io.ReadAll(res.Body)
		require.NoError(w.t, err)
	}
	require.NotNil(w.t, o.Responses.Value(strconv.Itoa(res.StatusCode)), "%s %s: %d %s", method, address,
		res.StatusCode, answer)
	w.taken(operation, q)
	return res.Header, answer
}

func (w *walk) taken(operation string, q url.Values) {
	delete(w.left, operation)
	for name := range q {
		delete(w.left, operation+" "+name)
	}
}

// object is ask for an answer in JSON.
func (w *walk) object(operation string, ids []string, q url.Values, body any) (o struct {
	ID, AccountID, NextPageToken string
	Results                      []struct {
		ID   string
		Data []struct{ HTTPSURL string }
	}
	DeliveryConfig struct{ SSEURL string }
	Filters        []struct{ ID string }
}) {
	w.t.Helper()
	_, text := w.ask(operation, ids, q, body)
	require.NoError(w.t, json.Unmarshal(text, &o), "%s: %s", operation, text)
	return o
}

// walk asks for everything.
func (w *walk) walk(account string) {
	const from, to = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
	one := func(pairs ...string) url.Values {
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return q
	}
	// What is changed and made.
	w.ask("PATCH cameras/{id}", []string{"gate"}, nil,
		map[string]any{"name": "Gate", "notes": "by the road", "tags": []string{"road", "front"}})
	w.ask("PATCH users/self", nil, nil, map[string]any{"firstName": "Anna"})
	ev := vms.Event{StartTimestamp: vms.At(time.Now().Add(-time.Hour)), Span: false, AccountID: account,
		ActorID: "gate", ActorAccountID: account, ActorType: vms.ActorCamera, CreatorID: "test",
		Type: vms.TypeTamper, DataSchemas: []string{"vms.creatorDetails.v1"}, Data: []vms.Data{}}
	ev.EndTimestamp = &ev.StartTimestamp
	w.ask("POST events", nil, nil, ev)
	subscription := map[string]any{"deliveryConfig": map[string]any{"type": "serverSentEvents.v1"},
		"filters": []any{map[string]any{}, map[string]any{}}}
	w.ask("POST eventSubscriptions", nil, nil, subscription)
	sub := w.object("POST eventSubscriptions", nil, one("include", "signedUrls"), subscription)
	filter := w.object("POST eventSubscriptions/{id}/filters", []string{sub.ID}, nil, map[string]any{})
	w.ask("GET eventSubscriptions/{id}/filters/{filter}", []string{sub.ID, filter.ID}, nil, nil)
	stream, err := url.Parse(sub.DeliveryConfig.SSEURL)
	require.NoError(w.t, err)
	w.ask("GET eventSubscriptions/{id}/stream", []string{sub.ID}, nil, nil)
	w.ask("GET eventSubscriptions/{id}/stream", []string{sub.ID}, one("lastEventId", "1"), nil)
	w.ask("GET eventSubscriptions/{id}/stream", []string{sub.ID}, stream.Query(), nil)

	// Events, and their pictures.
	self := w.object("GET users/self", nil, nil, nil)
	events := one("actor", "camera:gate", "startTimestamp__gte", from, "startTimestamp__lte", to)
	with := maps.Clone(events)
	with.Set("type__in", vms.TypeMotion)
	with.Set("include", "data."+vms.SchemaFullFrame+",signedUrls")
	motion := w.object("GET events", nil, with, nil).Results[0]
	picture, err := url.Parse(motion.Data[0].HTTPSURL)
	require.NoError(w.t, err)
	w.ask("GET media/recordedImage.jpeg", nil, picture.Query(), nil)
	image := one("deviceId", "gate", "type", "preview")
	w.ask("GET media/liveImage.jpeg", nil, image, nil)
	with = maps.Clone(image)
	with.Set("timestamp__lt", to)
	header, _ := w.ask("GET media/recordedImage.jpeg", nil, with, nil)
	prev, at := header.Get("X-Een-PrevToken"), header.Get("X-Een-Timestamp")
	require.NotEmpty(w.t, prev)
	w.ask("GET media/recordedImage.jpeg", nil, one("pageToken", prev), nil)
	header, _ = w.ask("GET media/recordedImage.jpeg", nil, one("pageToken", prev), nil)
	before := header.Get("X-Een-Timestamp")
	for op, time := range map[string]string{"timestamp": at, "timestamp__lte": at, "timestamp__gte": before,
		"timestamp__gt": before} {
		q := maps.Clone(image)
		q.Set(op, time)
		w.ask("GET media/recordedImage.jpeg", nil, q, nil)
	}
	for name, value := range map[string]string{"targetWidth": "100", "targetHeight": "64",
		"xywh": "percent:10,10,50,50", "include": "overlayEmbedded,overlaySvgHeader"} {
		q := maps.Clone(with)
		q.Set(name, value)
		if name == "include" {
			q.Set("overlayId__in", vms.TypeMotion)
		}
		w.ask("GET media/recordedImage.jpeg", nil, q, nil)
		q.Del("timestamp__lt")
		w.ask("GET media/liveImage.jpeg", nil, q, nil)
	}

	// Between bridges and the service.
	if w.left["POST bridges:register"] {
		w.ask("POST bridges:register", nil, nil, vms.Registration{ID: "bridge-2", Name: "Second",
			Cameras: []vms.RegisteredCamera{{ID: "yard", Name: "Yard"}}})
		ev.ActorID, ev.ID = "yard", ""
		raw, err := json.Marshal(ev)
		require.NoError(w.t, err)
		w.ask("POST events:report", nil, nil, vms.ReportMany{Events: []json.RawMessage{raw}})
		q := one("bridgeId", "bridge-2")
		c, res, err := websocket.Dial(w.t.Context(), w.base+"/api/v3.0/bridges:tunnel?"+q.Encode(),
			&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + w.report}}})
		require.NoError(w.t, err)
		require.Equal(w.t, http.StatusSwitchingProtocols, res.StatusCode)
		require.NoError(w.t, c.CloseNow())
		w.taken("GET bridges:tunnel", q)
		w.more()
	}

	// What is read.
	needed := map[string]url.Values{"events": events,
		"events:listRecentByType": one("actor", "camera:gate", "type__in", vms.TypeMotion),
		"events:listFieldValues":  one("actor", "camera:gate"),
		"eventMetrics": one("actor", "camera:gate", "eventType", vms.TypeMotion, "timestamp__gte", from,
			"timestamp__lte", "2026-01-03T00:00:00Z"),
		"media": one("deviceId", "gate", "type", "preview", "startTimestamp__gte", from),
		"media/recordedImage.jpeg:listFieldValues": one("deviceId", "gate", "include", "overlayId")}
	good := map[string]string{"actor__in": "camera:gate", "deviceId": "gate", "deviceId__in": "gate",
		"aggregateByMinutes": "30", "pageSize": "7", "qRelevance__gte": "0.5", "coalesce": "true", "type": "preview",
		"deviceInfo.directToCloud": "true", "shareDetails.firstResponder": "true", "shareDetails.shared": "true",
		"permissions.administrator": "true", "sort": "+name", "language": "ja", "mediaType": "image",
		"events sort": "+startTimestamp", "users sort": "-email"}
	ids := map[string][]string{"cameras/{id}": {"gate"}, "bridges/{id}": {"bridge-1"}, "users/{id}": {self.ID},
		"accounts/{id}": {"self"}, "devices/{id}": {"gate"}, "eventSubscriptions/{id}": {sub.ID},
		"events/{id}": {motion.ID}}
	for name := range maps.Clone(w.left) {
		path, isRead := strings.CutPrefix(name, "GET ")
		path, arg, _ := strings.Cut(path, " ")
		if !isRead {
			continue
		}
		own := []string{"none"} // of what nobody has
		for part, id := range ids {
			if strings.HasPrefix(path, part) {
				own = id
			}
		}
		if !strings.Contains(path, "{") {
			own = nil
		}
		q := maps.Clone(needed[path])
		if q == nil {
			q = url.Values{}
		}
		switch {
		case arg == "pageToken":
			q.Set("pageSize", "1")
			q.Set(arg, w.object("GET "+path, own, q, nil).NextPageToken)
			w.empty[path] = q.Get(arg) == "" // and so the end, as handed out
		case strings.Contains(arg, "imestamp__l"):
			q.Set(arg, cmp.Or(q.Get(arg), to))
		case strings.Contains(arg, "imestamp"):
			q.Set(arg, cmp.Or(q.Get(arg), from))
		case arg != "":
			q.Set(arg, cmp.Or(q.Get(arg), good[path+" "+arg], good[arg], "x"))
		}
		if arg == "actor__in" {
			q.Del("actor")
		}
		w.ask("GET "+path, own, q, nil)
	}

	// What ends.
	w.ask("DELETE eventSubscriptions/{id}/filters/{filter}", []string{sub.ID, filter.ID}, nil, nil)
	w.ask("DELETE eventSubscriptions/{id}", []string{sub.ID}, nil, nil)
	if w.left["POST bridges:leave"] {
		w.ask("POST bridges:leave", nil, one("bridgeId", "bridge-2"), nil)
	}
}

// more makes a second user and a second account, so that their lists have two pages.
func (w *walk) more() {
	for path, body := range map[string]string{
		"/g/user": `{"first_name":"B","last_name":"C","email":"b@example.org"}`,
		"/g/account": `{"name":"Other","contact_first_name":"D","contact_last_name":"E",` +
			`"contact_email":"d@example.org"}`,
	} {
		r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut,
			w.base+path+"?A="+url.QueryEscape(w.session),
			strings.NewReader(body))
		require.NoError(w.t, err)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		require.NoError(w.t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(w.t, err)
		require.NoError(w.t, res.Body.Close())
		require.Equal(w.t, 200, res.StatusCode, "%s: %s", path, text)
	}
}
