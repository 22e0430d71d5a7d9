package configs

import (
	"path/filepath"
	"time"
)

// Config is a whole YAML file with the defaults filled in and everything checked. It is plain data:
// nothing in it changes after Load, and it may be read from several goroutines.
type Config struct {
	Bridge  Bridge  `yaml:"bridge"`
	Service Service `yaml:"service"`
	API     API     `yaml:"api"`
	Stills  Stills  `yaml:"stills"`
	Journal Journal `yaml:"journal"`
	Clock   Clock   `yaml:"clock"`
	Decode  Decode  `yaml:"decode"`
	// Motion holds the defaults of all cameras; they are already merged into each camera's own
	// Motion.
	Motion Motion `yaml:"motion"`
	// Arm holds the schedule of all cameras; it is already merged into each camera's own Arm.
	Arm  Arm  `yaml:"arm"`
	MQTT MQTT `yaml:"mqtt"`
	// Webhooks are addresses that get events beside the service.
	Webhooks []Webhook `yaml:"webhooks"`
	// Lines is a file or pipe that gets events beside the service.
	Lines   Lines    `yaml:"file"`
	Log     Log      `yaml:"log"`
	Cameras []Camera `yaml:"cameras"`

	// File is the name under which the configuration was loaded.
	File string `yaml:"-"`
	// Warnings are findings that do not keep the bridge from running, such as a file without
	// cameras.
	Warnings Problems `yaml:"-"`
}

// Bridge says who this bridge is and where it keeps its data.
type Bridge struct {
	// ID names the bridge to the service: letters, digits and . _ : -, 64 characters at most.
	// Default "bridge"; must be written when a service is set.
	ID string `yaml:"id"`
	// Name is for people. Default: the id.
	Name string `yaml:"name"`
	// Account is the service's account that the cameras belong to, same characters as an id.
	// Default "local"; must be written when a service is set.
	Account string `yaml:"account"`
	// Data is the folder of the stills and the journal. A relative path counts from the YAML file's
	// folder. Default /var/lib/vmsbridge.
	Data string `yaml:"data"`
}

// Service says where events are reported to. The zero value means that nothing is reported: the
// bridge is on its own.
type Service struct {
	// URL is the service's base address, http or https, without user info. Empty: nothing is
	// reported.
	URL string `yaml:"url"`
	// Token is the bridge's own bearer token; with TokenFile it holds what the file said when the
	// configuration was loaded. If the file names none of the three, it is that of the environment
	// variable TokenVariable.
	Token Secret `yaml:"token"`
	// TokenFile is a file with the token, absolute after Load. It may be read again when the
	// service refuses the token.
	TokenFile string `yaml:"token_file"`
	// SessionFile is what `vmsbridge login` left, or will leave, in place of a token, absolute
	// after Load. The bridge renews it, so it must be able to write there.
	SessionFile string `yaml:"session_file"`
	// CAFile is a PEM file with the certificates that are trusted for the service instead of the
	// system's. Absolute after Load.
	CAFile string `yaml:"ca_file"`
	// TLSFingerprint is the SHA-256 of the one certificate that is trusted for the service, whoever
	// signed it: 64 hex digits, colons allowed. Empty: any that an authority vouches for.
	TLSFingerprint string `yaml:"tls_fingerprint"`
	// ReportOngoing reports a span as soon as it is confirmed and again when it ended; false
	// reports only ended spans, for a service that does not replace events. Default true.
	ReportOngoing bool `yaml:"report_ongoing"`
	// Tunnel keeps a connection to the service open, through which the service asks for stills
	// where it cannot reach the bridge. A service that takes no tunnels is left alone. Default
	// true.
	Tunnel bool `yaml:"tunnel"`
}

// TokenVariable is the environment variable with the bridge's token.
const TokenVariable = "VMSBRIDGE_SERVICE_TOKEN"

// API is the bridge's own HTTP interface on the LAN.
type API struct {
	// Listen is the host:port to listen on. Port 0 takes a free one. Default 127.0.0.1:8480. An
	// address that is not loopback is refused without Tokens and without TLS.
	Listen string `yaml:"listen"`
	// PublicURL is the address under which others reach the bridge, when it is not the one that it
	// listens on: the image addresses in events begin with it, and the service asks there for
	// stills. Empty: the address listened on.
	PublicURL string `yaml:"public_url"`
	// Tokens may ask for events and images. Without one, only people who sign in may.
	Tokens []Token `yaml:"tokens"`
	TLS    TLS     `yaml:"tls"`
}

// Token lets a program ask the bridge.
type Token struct {
	// Name says in the log who asked.
	Name string `yaml:"name"`
	// Token is the secret, from the YAML or from TokenFile; 16 characters at least.
	Token Secret `yaml:"token"`
	// TokenFile is a file with the secret, one line. Absolute after Load.
	TokenFile string `yaml:"token_file"`
	// Scopes is what the program may do: read, to ask for events and images, and report, to hand in
	// events. Default [read].
	Scopes []string `yaml:"scopes"`
}

// What a Token may be for.
const (
	ScopeRead   = "read"
	ScopeReport = "report"
)

// TLS names the files of the bridge's own certificate and its key, both PEM, absolute after Load.
// Both empty: plain HTTP. The word auto in its place: a certificate that the bridge makes itself
// and keeps in its data folder; `vmsbridge status` shows its SHA-256.
type TLS struct {
	Auto bool `yaml:"-"`
	// Cert is the certificate, with those between it and its authority after it.
	Cert string `yaml:"cert"`
	// Key is the certificate's private key.
	Key string `yaml:"key"`
}

func (t *TLS) word(word string) (right string) {
	if t.Auto = word == autoTLS; !t.Auto {
		return autoTLS
	}
	return ""
}

// autoTLS is the word for a certificate that the bridge makes.
const autoTLS = "auto"

// OwnCertificate is the file of the certificate that the bridge makes itself, with its key.
func (c *Config) OwnCertificate() string { return filepath.Join(c.Bridge.Data, "api-certificate.pem") }

// MakesCertificate reports whether the bridge serves the certificate that it makes itself.
func (c *Config) MakesCertificate() bool {
	return c.API.TLS.Cert != "" && c.API.TLS.Cert == c.OwnCertificate()
}

// Stills bounds the ring of stills and says how often pictures are kept.
type Stills struct {
	// MaxSize is the bytes that the ring never exceeds. Default 4GiB, at least four segments.
	MaxSize Size `yaml:"max_size"`
	// SegmentSize is the size of a file of the ring; the oldest is dropped when there is no room.
	// 1MiB to 1GiB, default 16MiB.
	SegmentSize Size `yaml:"segment_size"`
	// MaxAge is how long stills are kept, if there is room for so long; 0: as long as there is
	// room. 0 or 1h to 3650d, default 0.
	MaxAge time.Duration `yaml:"max_age"`
	// MinFree is how much of the file system the ring leaves to others: below it, the oldest stills
	// go. At least 1MiB, default 32MiB.
	MinFree Size `yaml:"min_free"`
	// DeviceEndurance is how many bytes may be written to the card or disk in its life, as its
	// maker says (TBW), for the estimate of how long it lasts; 0: 300 times its capacity. Default
	// 0.
	DeviceEndurance Size `yaml:"device_endurance"`
	// PreviewInterval is the time between previews while nothing moves. 100ms to 1h, default 10s.
	PreviewInterval time.Duration `yaml:"preview_interval"`
	// MotionInterval is the time between previews during motion. 40ms to 500ms, default 500ms.
	MotionInterval time.Duration `yaml:"motion_interval"`
	// MainInterval is the time between full-resolution stills during motion. 100ms to 1h, default
	// 2s.
	MainInterval time.Duration `yaml:"main_interval"`
	// PreviewWidth is the width in pixels that previews are shrunk to, never enlarged; an MJPEG
	// camera's own JPEGs are kept as they are. 64 to 7680, default 640.
	PreviewWidth int `yaml:"preview_width"`
	// Quality is the JPEG quality, 1 to 100. Default 80.
	Quality int `yaml:"quality"`
	// FlushInterval is how often stills are written through to the device, where little waits at
	// most three times as long (but no longer than 10s); what a power cut costs. 100ms to 1m,
	// default 2s.
	FlushInterval time.Duration `yaml:"flush_interval"`
}

// Journal bounds the store of events.
type Journal struct {
	// MaxAge is how long an event that the service has is kept. 1h to 3650d, default 30d.
	MaxAge time.Duration `yaml:"max_age"`
	// MaxEvents is how many events that the service has are kept, the newest. 1000 to 100 million,
	// default 500,000 (about 2 GB). Those that wait to be reported or were refused do not count,
	// and stay.
	MaxEvents int `yaml:"max_events"`
	// OutboxMaxSize is what the events that wait to be reported may take up; an eighth is a reserve
	// for what is worth more than motion. Over it, reports are given up, the least worth and the
	// oldest first, and one event tells the service what is missing. 1MiB to 1TiB, default 1GiB
	// (some 700,000 events).
	OutboxMaxSize Size `yaml:"outbox_max_size"`
	// OutboxMaxAge is how long an event that has ended may wait to be reported; 0: for ever. 0 or
	// 1h to 3650d, default 90d.
	OutboxMaxAge time.Duration `yaml:"outbox_max_age"`
}

// Clock says what is done while the machine's clock is not known to be true, as on a box without a
// clock battery until it has asked a time server: what is recorded gets its right time later, and
// no event is reported before.
type Clock struct {
	// Wait is how long the service must have been answering until a clock that is plausible, but
	// that nothing vouches for, is believed; 0: at once. Without a service it is believed at once
	// if the machine has a clock that runs while it is off (RTC), and else once it has been running
	// for that long, a minute at most. 0 or 1s to 7d, default 10m.
	Wait time.Duration `yaml:"wait"`
}

// Decode says how pictures are decoded.
type Decode struct {
	// Isolation is "process" (decoders run in processes of their own, default) or "none" (inside
	// the agent).
	Isolation string `yaml:"isolation"`
	// CamerasPerProcess is how many cameras share a decoder process, 1 to 64. 0 (default): four,
	// and up to twelve where each processor has such a process already.
	CamerasPerProcess int `yaml:"cameras_per_process"`
	// Gate leaves groups of pictures undecoded in which nothing moves, where the sizes of the
	// pictures would show even something small; default true. Streams in which they would not are
	// decoded in full.
	Gate bool `yaml:"gate"`
	// Economy leaves groups undecoded whose keyframes show the same, whatever the sizes of the
	// pictures between: what is visible for less than the time between two keyframes may be missed.
	Economy bool `yaml:"economy"`
	// Libraries are folders that are searched for libavcodec before the system's. Absolute after
	// Load.
	Libraries []string `yaml:"libraries"`
	// Decoders are decoders of libavcodec by name, hardware as a rule, that are tried before its
	// own: h264_v4l2m2m, hevc_rkmpp. Each must decode a clip exactly first; the decoder processes
	// may open devices then.
	Decoders []string `yaml:"decoders"`
}

// Log says what is logged, and how.
type Log struct {
	// Level is debug, info (default), warn or error.
	Level string `yaml:"level"`
	// Format is text (default) or json.
	Format string `yaml:"format"`
}
