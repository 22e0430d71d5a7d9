package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vmsbridge/uplink/home"
	"vmsbridge/uplink/trust"
	"vmsbridge/uplink/vms"
)

// Versions of the protocol.
const (
	Version5   = "5"
	Version311 = "3.1.1"
)

// Options of New. URL, ClientID, Prefix, Bridge.ID, Feed, Memory and Ongoing are needed.
type Options struct {
	// URL is mqtt://host:port or mqtts://host:port; without a port it is 1883 or 8883.
	URL string
	// Protocol is Version5 or Version311; "" is Version5.
	Protocol string
	// ClientID must be of this bridge alone: a broker throws out the one who came before with the same.
	ClientID string
	Username string
	// Password is asked for at each connection, so that a file may be renewed. Nil: none.
	Password func() (string, error)
	// CAFile and Fingerprint say whom to trust behind mqtts: see package trust.
	CAFile, Fingerprint string
	// Prefix begins all topics of the bridge's own.
	Prefix string
	// Discovery is the prefix under which Home Assistant looks; "": it is told nothing.
	Discovery string
	// Bridge and Cameras are what Home Assistant is told of, and the cameras whose state is shown.
	Bridge  Bridge
	Cameras []Camera

	Feed home.Feed
	Caps home.Caps
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
type Bridge struct{ ID, Name, Version string }

// Camera is one whose state is shown.
type Camera struct {
	ID, Name string
	Tamper   bool // its view is watched
	Regions  []Region
}

// Region is an area of a camera with a motion of its own.
type Region struct{ ID, Name string }

// Home is a broker that gets the events. Make it with New; Run may be called once.
type Home struct {
	opts   Options
	names  names
	addr   string
	tls    *tls.Config // nil: none
	ledger *home.Ledger
	log    *slog.Logger
	poison poison
	untrue bool // events were seen that change their ids
}

// New checks the options. It does no I/O but reading CAFile.
func New(o Options) (*Home, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.User != nil || (u.Scheme != "mqtt" && u.Scheme != "mqtts") {
		// Not with the address itself: somebody may have put a password into it.
		return nil, errors.New("the broker's address must look like mqtt://host:port or mqtts://host:port, without user name")
	}
	if o.Protocol == "" {
		o.Protocol = Version5
	}
	if o.Protocol != Version5 && o.Protocol != Version311 {
		return nil, fmt.Errorf("the protocol must be %s or %s", Version5, Version311)
	}
	if o.ClientID == "" || o.Prefix == "" || o.Bridge.ID == "" || o.Feed == nil || o.Memory == nil || o.Ongoing == nil {
		return nil, errors.New("make the MQTT home: ClientID, Prefix, Bridge.ID, Feed, Memory and Ongoing are needed")
	}
	if o.FirstPause == 0 {
		o.FirstPause = time.Second
	}
	if o.MaxPause == 0 {
		o.MaxPause = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Home{opts: o, names: names{prefix: o.Prefix, discovery: o.Discovery, bridge: o.Bridge.ID}}
	port := u.Port()
	if u.Scheme == "mqtts" {
		if h.tls, err = trust.New(o.CAFile, o.Fingerprint); err != nil {
			return nil, err
		}
		h.tls.ServerName = u.Hostname()
	}
	if port == "" {
		port = map[string]string{"mqtt": "1883", "mqtts": "8883"}[u.Scheme]
	}
	h.addr = net.JoinHostPort(u.Hostname(), port)
	h.ledger = home.NewLedger("mqtt", u.Hostname(), o.Feed, o.Caps, o.Registerer, o.Log)
	h.log = h.ledger.Log()
	return h, nil
}

// Status is how the home is.
func (h *Home) Status() home.Status { return h.ledger.Status() }

// lasting is how long a connection has to hold for the next one to be tried soon. Two bridges of one client id throw each other out.
const lasting = time.Minute

// Run hands events over until ctx is done, then what is left for a moment. It returns nil.
func (h *Home) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return h.ledger.Keep(ctx) })
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.RandomizationFactor = h.opts.FirstPause, h.opts.MaxPause, 0.25
	for ctx.Err() == nil {
		began := time.Now()
		err := h.live(ctx)
		if err == nil || ctx.Err() != nil {
			break
		}
		if time.Since(began) > lasting {
			pauses.Reset()
		}
		h.ledger.Down(err, h.hint(err))
		pause := time.NewTimer(pauses.NextBackOff())
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
	return g.Wait()
}

// hint says what a person can do about a failure.
func (h *Home) hint(err error) string {
	var refused *refusedError
	var ne net.Error
	switch {
	case errors.As(err, &refused) && refused.code == takenOver:
		return "another client came to the MQTT broker under the bridge's name: is there a second bridge with this mqtt.client_id?"
	case errors.As(err, &refused) && refused.topic != "":
		return "the MQTT broker does not let the bridge publish: allow its user to write below " + h.opts.Prefix + " and the discovery prefix"
	case errors.As(err, &refused) && refused.login:
		return "the MQTT broker refuses the user name or password: put right mqtt.username and mqtt.password_file"
	case errors.As(err, &refused):
		return "the MQTT broker refuses the connection: if it knows MQTT 3.1.1 only, set mqtt.protocol: 3.1.1"
	case errors.Is(err, errNoBroker):
		return "what answers at mqtt.url does not behave as an MQTT broker does: is the address right?"
	case trust.Untrusted(err):
		return "the MQTT broker's certificate is not trusted: set mqtt.ca_file or mqtt.tls_fingerprint"
	case errors.Is(err, errBroken):
		return "the MQTT broker ended the connection; if it goes on doing so, another client may have this mqtt.client_id"
	case errors.As(err, &ne):
		return "the MQTT broker cannot be reached: is it running, and is mqtt.url right?"
	}
	return "the MQTT broker does not take events at the moment; they wait"
}
