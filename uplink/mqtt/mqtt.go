package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// Options of New. URL, ClientID, Prefix, Bridge.ID, Feed, Memory and Ongoing are needed.
type Options struct {
	// URL is mqtt://host:port or mqtts://host:port; without a port it is 1883 or 8883.
	URL string
	// ClientID must be of this bridge alone: a broker throws out the one who came before with the
	// same.
	ClientID string
	Username string
	// Password is asked for at each connection, so that a file may be renewed. Nil: none.
	Password func() (string, error)
	// CAFile and Fingerprint say whom to trust behind mqtts: see delivery.Trust.
	CAFile, Fingerprint string
	// Prefix begins all topics of the bridge's own.
	Prefix string
	// Discovery is the prefix under which Home Assistant looks; "": it is told nothing.
	Discovery string
	// Bridge and Cameras are what Home Assistant is told of, and the cameras whose state is shown.
	Bridge  Bridge
	Cameras []Camera

	// Picture is a camera's still of a moment, as a JPEG; needed where a camera has Images.
	Picture func(camera string, at time.Time) ([]byte, error)

	// Armed is before which cameras motion makes events; changed is closed when that is otherwise.
	// Arm arms or disarms a camera, "" all. Nil both: that is neither shown nor switched.
	Armed func() (armed map[string]bool, changed <-chan struct{})
	Arm   func(ctx context.Context, camera string, armed bool) error

	Feed delivery.Feed
	Caps delivery.Caps
	// Memory keeps over restarts what was published as retained.
	Memory Memory
	// Ongoing is all events that have not ended, as they are now.
	Ongoing func() ([]vms.Event, error)

	// FirstPause and MaxPause bound the wait after a failure; 0 means 1 s and 30 s.
	FirstPause, MaxPause time.Duration
	Log                  *slog.Logger // nil: nothing is logged
	Registerer           prometheus.Registerer
}

// Bridge says who the bridge is.
type Bridge struct {
	ID, Name, Version string
	Page              string // the address of its page, with a slash at the end; "": nobody knows it
}

// Camera is one whose state is shown.
type Camera struct {
	ID, Name string
	Tamper   bool // its view is watched
	Images   bool // the picture of its last motion is published
	Regions  []Region
	Lines    []Region // that are crossed
	Intruded []Region // areas that something may be in
	Loitered []Region // areas that something may stay in
}

// Region is an area of a camera with a motion of its own, or one of its lines or areas.
type Region struct{ ID, Name string }

// Broker is a broker that gets the events. Make it with New; Run may be called once.
type Broker struct {
	*delivery.Follower
	opts  Options
	names names
	addr  string
	tls   *tls.Config // nil: none
	line  line

	wishes chan wish // buffered: what came through the broker and is not done yet

	refused int // pictures that the broker did not take, one after the other; belongs to the turn

	watching sync.WaitGroup
	stopped  atomic.Bool
}

// New checks the options. It does no I/O but reading CAFile.
func New(o Options) (*Broker, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "mqtt" && u.Scheme != "mqtts") {
		// Not with the address itself: somebody may have put a password into it.
		return nil,
			errors.New("the broker's address must look like mqtt://host:port or mqtts://host:port, without user name")
	}
	if o.ClientID == "" || o.Prefix == "" || o.Bridge.ID == "" || o.Feed == nil || o.Memory == nil || o.Ongoing == nil {
		return nil, errors.New("make the MQTT sink: ClientID, Prefix, Bridge.ID, Feed, Memory and Ongoing are needed")
	}
	b := &Broker{opts: o, names: names{prefix: o.Prefix, discovery: o.Discovery, bridge: o.Bridge.ID},
		line: line{turn: make(chan struct{}, 1)}, wishes: make(chan wish, 16)}
	port := u.Port()
	if u.Scheme == "mqtts" {
		if b.tls, err = delivery.Trust(o.CAFile, o.Fingerprint); err != nil {
			return nil, err
		}
		b.tls.ServerName = u.Hostname()
	}
	if port == "" {
		port = map[string]string{"mqtt": "1883", "mqtts": "8883"}[u.Scheme]
	}
	b.addr = net.JoinHostPort(u.Hostname(), port)
	if o.MaxPause == 0 {
		o.MaxPause = 30 * time.Second
	}
	b.Follower = delivery.Follow(b, delivery.FollowOptions{Kind: "mqtt", Name: u.Hostname(), Feed: o.Feed, Caps: o.Caps,
		OneLane: true, Untrue: true, Log: o.Log, Registerer: o.Registerer,
		Engine: delivery.Options{Concurrency: 1, AtOnce: func() int { return batch }, Open: b.Open,
			FirstPause: o.FirstPause,
			MaxPause:   o.MaxPause, Lasting: lasting, StuckAfter: time.Millisecond, Proofs: proofs}})
	return b, nil
}

const (
	// lasting is how long a connection has to hold for the next one to be tried soon. Two bridges
	// of one client id throw each other out.
	lasting = time.Minute
	// proofs is how often a connection must have broken at an event alone, though the broker took
	// the greeting, to give the event up: a broker may refuse a message that is too large in no
	// other way.
	proofs = 5
)

// hint says what a person can do about a failure.
func (b *Broker) hint(err error) string {
	var refused *refusedError
	var ne net.Error
	switch {
	case errors.As(err, &refused) && refused.code == takenOver:
		return "another client came to the MQTT broker under the bridge's name: is there a second bridge with this " +
			"mqtt.client_id?"
	case errors.As(err, &refused) && refused.topic != "":
		return "the MQTT broker does not let the bridge publish: allow its user to write below " + b.opts.Prefix +
			" and the discovery prefix"
	case errors.As(err, &refused) && refused.login:
		return "the MQTT broker refuses the user name or password: put right mqtt.username and mqtt.password_file"
	case errors.As(err, &refused) && refused.ended:
		return "the MQTT broker ended the connection: " + refused.reason
	case errors.As(err, &refused):
		return "the MQTT broker refuses the connection: does it know MQTT 5, as brokers do since 2019?"
	case errors.Is(err, errNoBroker):
		return "what answers at mqtt.url does not behave as an MQTT broker does: is the address right?"
	case delivery.Untrusted(err):
		return "the MQTT broker's certificate is not trusted: set mqtt.ca_file or mqtt.tls_fingerprint"
	case errors.Is(err, errBroken):
		return "the MQTT broker ended the connection; if it goes on doing so, another client may have this " +
			"mqtt.client_id"
	case errors.As(err, &ne):
		return "the MQTT broker cannot be reached: is it running, and is mqtt.url right?"
	}
	return "the MQTT broker does not take events at the moment; they wait"
}
