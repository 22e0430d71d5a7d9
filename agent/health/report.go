package health

import (
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// Kind is what a problem is about. It is the label of a metric, so there are few.
type Kind string

// The kinds of problems.
const (
	NotRunning    Kind = "not_running"   // only vmsbridge status says so
	Journal       Kind = "journal"       // refuses events
	Disk          Kind = "disk"          // almost full
	SlowDisk      Kind = "slow_disk"     // writes take seconds
	Damage        Kind = "damage"        // a store was found damaged
	Clock         Kind = "clock"         // not believed
	SignIn        Kind = "sign_in"       // the service refuses the bridge
	Service       Kind = "service"       // the service cannot be reached, or does not take events
	Cameras       Kind = "cameras"       // not all are online
	Stuck         Kind = "stuck"         // a camera's pipeline stands still
	View          Kind = "view"          // a camera was tampered with
	Decoder       Kind = "decoder"       // a library is missing
	Decoding      Kind = "decoding"      // a camera takes more than its share, or its pictures are dropped or torn
	Configuration Kind = "configuration" // the last edit was not taken over
	Restart       Kind = "restart"       // a part of the last edit waits for a restart
	Parked        Kind = "parked"        // the service refused events for good
	Tunnel        Kind = "tunnel"        // does not stand
	Sink          Kind = "sink"          // another sink of events (MQTT, a webhook) does not take them
)

// Problem is one thing that is wrong.
type Problem struct {
	Kind Kind `json:"kind"`
	// Text is for the one who may see everything: cameras by name, reasons. No secret.
	Text string `json:"text"`
	// Public is for the health checks, which need no token: no names, no addresses. "" says Text.
	Public string `json:"-"`
	// Hint is what to do.
	Hint string `json:"hint,omitempty"`
}

// Report is everything at one moment. It holds no secret.
type Report struct {
	Time     time.Time `json:"time"`
	Bridge   string    `json:"bridge"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Platform string    `json:"platform"`
	Running  bool      `json:"running"`
	PID      int       `json:"pid,omitempty"`
	Started  time.Time `json:"started,omitzero"`

	// DownWhy and DownHint are for a bridge that does not run: the end of a sentence that says so,
	// and what to do.
	DownWhy, DownHint string `json:"-"`

	Problems []Problem `json:"problems"` // the worst first

	Config  Config   `json:"configuration"`
	Cameras []Camera `json:"cameras"`
	Service *Link    `json:"service,omitempty"` // nil: none is configured
	Outbox  Outbox   `json:"outbox"`
	Disk    Space    `json:"disk"`
	Machine Machine  `json:"machine,omitzero"`
	Stills  Stills   `json:"stills"`
	Journal Events   `json:"journal"`
	Users   Users    `json:"users,omitzero"`
	// Certificate is the SHA-256 of the one that the bridge made itself; "" if it serves none of
	// its own.
	Certificate string             `json:"certificate,omitempty"`
	Decoders    codec.Capabilities `json:"decoders"`
	// DecodersKnown says that Decoders was found out; DecodersProblem is why it could not be.
	DecodersKnown   bool                  `json:"-"`
	DecodersProblem string                `json:"-"`
	DecoderDeaths   codec.Deaths          `json:"decoderDeaths,omitzero"`
	Sinks           []delivery.SinkStatus `json:"sinks,omitempty"`
	Clock           any                   `json:"clock,omitempty"`
	// ClockProblem is why the clock is not believed; "" if it is.
	ClockProblem string `json:"-"`
	// ClockBeside is why the machine shows another time than the bridge; "" if it does not.
	ClockBeside string `json:"-"`
}

// Config is what became of the configuration file.
type Config struct {
	File     string    `json:"file"`
	Loaded   time.Time `json:"loaded,omitzero"`   // the one that runs
	Failed   time.Time `json:"failed,omitzero"`   // since when the file has problems; zero: it has none that are known
	Problems []string  `json:"problems"`          // of the file, as file:line:col: path: message
	Restart  []string  `json:"restart,omitempty"` // keys of which the file's value waits for a restart
	Good     int       `json:"-"`                 // readings of the file that were taken over
	Bad      int       `json:"-"`                 // and that were not
}

// Camera is one camera of the configuration.
type Camera struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	State     string    `json:"state"` // a camera.State, or "off"
	Online    bool      `json:"online"`
	Reason    string    `json:"reason,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	Codec     string    `json:"codec,omitempty"`
	Width     int       `json:"width,omitempty"`
	Height    int       `json:"height,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Rate      float64   `json:"rate,omitempty"`     // pictures that came a second, lately
	Tampered  string    `json:"tampered,omitempty"` // what was done to its view
	// Disarmed says that motion makes no events, by the schedule or, where it is Switched, by hand;
	// ArmingUntil is when that, or that it does, changes: zero where that is not known.
	Disarmed    bool      `json:"disarmed,omitempty"`
	Switched    bool      `json:"switched,omitempty"`
	ArmingUntil time.Time `json:"armingUntil,omitzero"`
	Stuck       bool      `json:"stuck,omitempty"`
	Decoding    *Load     `json:"decoding,omitempty"` // nil: nothing was decoded yet
	Losing      float64   `json:"losing,omitempty"`   // share of its pictures in the last minute that the decoder did not come to, if that goes on
	Torn        float64   `json:"torn,omitempty"`     // and that miss packets, or depend on one that does
	// Undecoded is the share of its access units that stayed undecoded in the last minute, since
	// nothing moves in them; DecodesAll says why it is none now.
	Undecoded  float64 `json:"undecoded,omitempty"`
	DecodesAll string  `json:"decodesAll,omitempty"`
	// MainRefused is why the full-resolution stream, of a camera that has another one for motion,
	// cannot be decoded.
	MainRefused string    `json:"mainRefused,omitempty"`
	Preview     time.Time `json:"lastPreview,omitzero"`
	Main        time.Time `json:"lastMain,omitzero"`
}

// Load is what a camera's decoding costs.
type Load struct {
	Processor float64   `json:"processor"` // used of one, lately
	Share     float64   `json:"share"`     // of one that it may use
	Stage     string    `json:"stage"`     // how it is decoded
	Since     time.Time `json:"since"`
	Alone     bool      `json:"alone,omitempty"`         // in a process of its own
	KeysOnly  bool      `json:"keyframesOnly,omitempty"` // the rest of its pictures is left out
}

// Off is the State of a camera that is not enabled.
const Off = "off"

// Link is the tie to the service.
type Link struct {
	URL      string `json:"url"`
	SignedIn bool   `json:"signedIn"`
	Problem  string `json:"problem,omitempty"`
	Tunnel   string `json:"tunnel"`
	// Why is what the service, or the way to it, answered last when something was wrong.
	Why string `json:"-"`
	// TunnelUp says that the tunnel stands; TunnelProblem is why it does not, if a person can help.
	TunnelUp      bool   `json:"-"`
	TunnelProblem string `json:"-"`
}

// Outbox is what waits for the service.
type Outbox struct {
	Waiting int       `json:"waiting"`
	Parked  int       `json:"parked"`
	Oldest  *vms.Time `json:"oldest"`
}

// Space is the file system of the data folder.
type Space struct {
	Path  string `json:"path"`
	Free  int64  `json:"freeBytes"`
	Total int64  `json:"totalBytes"`
	Least int64  `json:"leastBytes"` // what is to be free
	Slow  *Slow  `json:"slow,omitempty"`
	// ReadOnly says that the file system takes no changes.
	ReadOnly bool `json:"readOnly,omitempty"`
	// NoFiles says that there is no room for another file, whatever is free.
	NoFiles bool `json:"noFiles,omitempty"`
}

// Slow is the time, the last one, in which writes to the disk took seconds.
type Slow struct {
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until,omitzero"` // zero: it lasts
	Longest float64   `json:"longestSeconds"`
}

// Stills is the ring.
type Stills struct {
	Stills  int       `json:"stills"`
	Bytes   int64     `json:"bytes"`
	Most    int64     `json:"mostBytes"`
	Oldest  time.Time `json:"oldest,omitzero"`
	Damaged string    `json:"damaged,omitempty"` // since the start
}

// Events is the journal.
type Events struct {
	Events  int    `json:"events"`
	Bytes   int64  `json:"bytes"`
	Damaged string `json:"damaged,omitempty"` // found at the start
	Failing string `json:"failing,omitempty"` // why it refuses events now
	Remedy  string `json:"remedy,omitempty"`  // what to do about that
}

// Users is signing in at the bridge.
type Users struct {
	Damaged string `json:"damaged,omitempty"` // what was found since the start
	Shut    string `json:"shut,omitempty"`    // why nobody can sign in
}
