package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"vmsbridge/uplink/vms"
)

// Register tells the service which cameras this bridge has and where its stills can be asked for.
// It replaces what the service knew of this bridge; call it at start and again every minute, in
// case the service has lost its memory. Unsupported tells a service that knows no such thing.
func (c *Client) Register(ctx context.Context, r vms.Registration) error {
	_, err := c.RegisterAt(ctx, r, nil)
	return err
}

// RegisterAt is Register with a mark of how far the bridge's journal has been reported. book is
// what the service says of its own, nil for one that keeps no marks.
func (c *Client) RegisterAt(ctx context.Context, r vms.Registration, m *vms.Mark) (book *vms.Book, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("register bridge: %w", err)
	}
	header := http.Header{}
	if m != nil {
		header.Set(vms.HeaderJournal, m.String())
	}
	a, err := c.callWith(ctx, header, http.MethodPost, vms.PathRegister, body, maxReplyBytes)
	if err != nil {
		return nil, err
	}
	if !took(a) {
		// Else the events that follow would be of cameras that the service does not know, and
		// refused for good.
		return nil,
			&vms.TransientError{Code: a.status,
				Err: fmt.Errorf("register bridge: the answer is not the service's: %d with %s; is there a portal in "+
					"between?", a.status, describe(a))}
	}
	var known vms.Registered
	if json.Unmarshal(a.body, &known) != nil || known.ReportAtOnce < 0 {
		known = vms.Registered{} // a service of another make, or an older one
	}
	said := Said{AddressUnasked: clip(known.AddressUnasked), Twins: known.Twins}
	for _, no := range known.Refused[:min(len(known.Refused), maxSaid)] {
		said.Refused = append(said.Refused, clip(no.ID)+": "+clip(no.Reason))
	}
	c.said.Store(&said)
	c.batch.most.Store(int64(min(known.ReportAtOnce, maxAtOnce)))
	return known.Book, nil
}

// Leave tells the service that the bridge of that id, which is registered, stops. Unsupported tells
// a service that knows no such thing.
func (c *Client) Leave(ctx context.Context, bridge string) error {
	_, err := c.call(ctx, http.MethodPost, vms.PathLeave+"?"+url.Values{"bridgeId": {bridge}}.Encode(), nil,
		maxReplyBytes)
	return err
}

// Said is what the service does not do of what the last registration asks of it, in its words.
type Said struct {
	AddressUnasked string   // why it does not ask for stills at the bridge's address; "" if it does
	Refused        []string // the first cameras that it does not take, each with the reason
	Twins          bool     // another bridge that runs has registered as this one
}

// maxSaid bounds how many refused cameras are looked at.
const maxSaid = 5

// Said is what the service said to the last registration.
func (c *Client) Said() Said {
	if said := c.said.Load(); said != nil {
		return *said
	}
	return Said{}
}

// took says whether a 2xx is that of a service that takes registrations, of whatever make: a JSON
// object that is no error, or nothing where that is said by the code.
func took(a answer) bool {
	var fields map[string]json.RawMessage
	if len(bytes.TrimSpace(a.body)) == 0 {
		return a.status != http.StatusOK
	}
	return json.Unmarshal(a.body, &fields) == nil && fields != nil && !trouble(fields)
}

// ofCamera tells a bridge that is asked through its tunnel which camera a question is about.
func ofCamera(camera string) http.Header { return http.Header{vms.HeaderCamera: {camera}} }

// imagePath is the address of a recorded still.
func imagePath(camera, kind, op string, t time.Time) string {
	v := url.Values{"deviceId": {camera}, "type": {kind}, op: {instant(t)}}
	return vms.PathImage + "?" + v.Encode()
}

// Image fetches a recorded still and when it was taken. kind is vms.ImagePreview or vms.ImageMain,
// op one of the vms.Op constants.
func (c *Client) Image(ctx context.Context, camera, kind, op string, t time.Time) (jpeg []byte, at time.Time,
	err error) {
	a, err := c.call(ctx, http.MethodGet, imagePath(camera, kind, op, t), nil, maxImageBytes)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !bytes.HasPrefix(a.body, []byte{0xff, 0xd8}) {
		return nil, time.Time{},
			&vms.TransientError{Code: a.status, Err: fmt.Errorf("the answer is not an image but %s", describe(a))}
	}
	at, err = takenAt(a.status, a.header)
	if err != nil {
		return nil, at, err
	}
	return a.body, at, nil
}

// takenAt is when the image of an answer was taken.
func takenAt(status int, header http.Header) (time.Time, error) {
	for _, prefix := range []string{"X-Vms-", "X-Een-"} {
		stamp, err := vms.ParseTime(header.Get(prefix + vms.HeaderTimestamp))
		if err == nil {
			return stamp.Time, nil
		}
	}
	return time.Time{}, &vms.TransientError{Code: status, Err: errors.New("the image came without its time")}
}

// Still is an image as it comes, from its first bytes on, which are those of a JPEG. Whoever has
// one closes Body.
type Still struct {
	Time   time.Time
	Length int64 // -1: it is not said
	Body   io.ReadCloser
}

// OpenImage is Image for whoever passes it on: it is not read whole, ctx alone bounds how long it
// may take, and the token is not read anew. If the image is the one that was taken at known (the
// zero time: none), its Body is empty.
func (c *Client) OpenImage(ctx context.Context, camera, kind, op string, t, known time.Time) (Still, error) {
	token, err := c.Bearer(ctx, "")
	if err != nil {
		return Still{}, err
	}
	header := ofCamera(camera)
	if !known.IsZero() {
		header.Set("If-None-Match", vms.ImageTag(kind, known, ""))
	}
	res, err := c.open(ctx, header, http.MethodGet, imagePath(camera, kind, op, t), nil, "", token)
	if err != nil {
		return Still{}, err
	}
	var s Still
	if !known.IsZero() && res.StatusCode == http.StatusNotModified {
		if s.Time, err = takenAt(res.StatusCode, res.Header); err == nil && !s.Time.Equal(known) {
			err = &vms.TransientError{Code: res.StatusCode,
				Err: errors.New("it names another image than it was asked about")}
		}
		s.Body = res.Body
	} else {
		s, err = c.still(res)
	}
	if err != nil {
		_ = res.Body.Close() // what is wrong with the answer is known
	}
	return s, err
}

// still checks the beginning of an answer.
func (c *Client) still(res *http.Response) (s Still, err error) {
	if res.StatusCode != http.StatusOK {
		a, err := c.whole(res, maxReplyBytes)
		if err == nil {
			err = classify(c.base, a, nil)
		}
		if err == nil {
			err = &vms.TransientError{Code: a.status, Err: fmt.Errorf("the answer is not an image but %s", describe(a))}
		}
		return s, err
	}
	if s.Time, err = takenAt(res.StatusCode, res.Header); err != nil {
		return s, err
	}
	body := bufio.NewReader(res.Body)
	if head, err := body.Peek(3); err != nil || string(head) != "\xff\xd8\xff" {
		return s, &vms.TransientError{Code: res.StatusCode, Err: errors.New("what it sends is not a JPEG")}
	}
	s.Length, s.Body = res.ContentLength, struct {
		io.Reader
		io.Closer
	}{body, res.Body}
	return s, nil
}

// Media asks for the first intervals of a time in which there are images of a camera, at most so
// many, and for the gaps of that time.
func (c *Client) Media(ctx context.Context, camera, kind string, from, to time.Time, most int) (vms.MediaPage, error) {
	v := url.Values{"deviceId": {camera}, "type": {kind}, "startTimestamp__gte": {vms.At(from).String()},
		"endTimestamp__lte": {vms.At(to).String()}, "pageSize": {strconv.Itoa(most)}}
	return get[vms.MediaPage](ctx, c, ofCamera(camera), vms.PathMedia+"?"+v.Encode())
}

// Camera asks for one camera with its status.
func (c *Client) Camera(ctx context.Context, id string) (vms.Camera, error) {
	return get[vms.Camera](ctx, c, ofCamera(id), vms.PathCameras+"/"+url.PathEscape(id)+"?include=status")
}

// get asks for something in JSON.
func get[T any](ctx context.Context, c *Client, header http.Header, path string) (out T, err error) {
	a, err := c.callWith(ctx, header, http.MethodGet, path, nil, maxAnswerBytes)
	if err != nil {
		return out, err
	}
	return out, decode(a, &out)
}

// instant writes a time in milliseconds if it is a whole one, else exactly.
func instant(t time.Time) string {
	if t.Truncate(time.Millisecond).Equal(t) {
		return vms.At(t).String()
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999999+00:00")
}

// EventTypes asks for a page of the catalogue; token "" for the first.
func (c *Client) EventTypes(ctx context.Context, token string) (vms.PageOf[vms.EventType], error) {
	return page[vms.EventType](ctx, c, "/api/v3.0/eventTypes", token, nil)
}

// Cameras asks for a page of the cameras with their status; token "" for the first.
func (c *Client) Cameras(ctx context.Context, token string) (vms.PageOf[vms.Camera], error) {
	return page[vms.Camera](ctx, c, "/api/v3.0/cameras", token, url.Values{"include": {"status"}})
}

func page[T any](ctx context.Context, c *Client, path, token string, v url.Values) (vms.PageOf[T], error) {
	if v == nil {
		v = url.Values{}
	}
	v.Set("pageSize", "500")
	if token != "" {
		v.Set("pageToken", token)
	}
	return get[vms.PageOf[T]](ctx, c, nil, path+"?"+v.Encode())
}

// User asks whom the token stands for. Its AccountID is what events must carry.
func (c *Client) User(ctx context.Context) (vms.User, error) {
	return get[vms.User](ctx, c, nil, "/api/v3.0/users/self")
}
