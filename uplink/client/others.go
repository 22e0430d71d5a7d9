package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"vmsbridge/uplink/vms"
)

// Registration and RegisteredCamera are what a bridge tells the service about itself.
type (
	Registration     = vms.Registration
	RegisteredCamera = vms.RegisteredCamera
)

// Register tells the service which cameras this bridge has and where its stills can be asked for.
// It replaces what the service knew of this bridge; call it at start and again every minute, in
// case the service has lost its memory. Unsupported tells a service that knows no such thing.
func (c *Client) Register(ctx context.Context, r Registration) error {
	_, err := c.RegisterAt(ctx, r, nil)
	return err
}

// RegisterAt is Register with a mark of how far the bridge's journal has been reported. book is
// what the service says of its own, nil for one that keeps no marks.
func (c *Client) RegisterAt(ctx context.Context, r Registration, m *vms.Mark) (book *vms.Book, err error) {
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
			&TransientError{Code: a.status,
				Err: fmt.Errorf("register bridge: the answer is not the service's: %d with %s; is there a portal in "+
					"between?", a.status, describe(a))}
	}
	var known vms.Registered
	if json.Unmarshal(a.body, &known) != nil || known.ReportAtOnce < 0 {
		known = vms.Registered{} // a service of another make, or an older one
	}
	said := Said{AddressUnasked: clip(known.AddressUnasked)}
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

// Image fetches a recorded still and when it was taken. kind is vms.ImagePreview or vms.ImageMain,
// op one of the vms.Op constants.
func (c *Client) Image(ctx context.Context, camera, kind, op string, t time.Time) (jpeg []byte, at time.Time,
	err error) {
	v := url.Values{"deviceId": {camera}, "type": {kind}, op: {instant(t)}}
	a, err := c.call(ctx, http.MethodGet, vms.PathImage+"?"+v.Encode(), nil, maxImageBytes)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !bytes.HasPrefix(a.body, []byte{0xff, 0xd8}) {
		return nil, time.Time{},
			&TransientError{Code: a.status, Err: fmt.Errorf("the answer is not an image but %s", describe(a))}
	}
	for _, prefix := range []string{"X-Vms-", "X-Een-"} {
		stamp, err := vms.ParseTime(a.header.Get(prefix + vms.HeaderTimestamp))
		if err == nil {
			return a.body, stamp.Time, nil
		}
	}
	return nil, time.Time{}, &TransientError{Code: a.status, Err: errors.New("the image came without its time")}
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
	var out vms.PageOf[T]
	a, err := c.call(ctx, http.MethodGet, path+"?"+v.Encode(), nil, maxAnswerBytes)
	if err != nil {
		return out, err
	}
	return out, decode(a, &out)
}

// User asks whom the token stands for. Its AccountID is what events must carry.
func (c *Client) User(ctx context.Context) (vms.User, error) {
	var u vms.User
	a, err := c.call(ctx, http.MethodGet, "/api/v3.0/users/self", nil, maxAnswerBytes)
	if err != nil {
		return u, err
	}
	return u, decode(a, &u)
}
