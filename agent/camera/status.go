package camera

import (
	"fmt"
	"time"
)

// State is what a camera's stream is doing now.
type State string

// The states. All but Connecting and Online carry a reason that says what to do.
const (
	// at the first attempt only; later failures keep their state until it is online again
	Connecting         State = "connecting"
	Online             State = "online"             // access units arrive
	InvalidCredentials State = "invalidCredentials" // the camera refused user name or password
	InsecureSignIn     State = "insecureSignIn"     // the camera wants the password in clear and that is not allowed
	Refused            State = "refused"            // any other refusal: forbidden, too many clients, …
	NotFound           State = "notFound"           // no stream at this path
	UnsupportedCodec   State = "unsupportedCodec"   // there is video, but not H.264, H.265 or MJPEG
	NoVideo            State = "noVideo"            // no readable description, or one without video
	NoKeyframe         State = "noKeyframe"         // packets arrive, but decoding cannot start
	Stale              State = "stale"              // connected, but nothing arrives
	Disconnected       State = "disconnected"       // the camera ended the stream or the connection
	Unreachable        State = "unreachable"        // no TCP connection
	TLSError           State = "tlsError"           // rtsps did not come about
	TransportRefused   State = "transportRefused"   // no transport that both sides can use
)

// Connection is the value of the interface's connectionStatus for this state.
func (s State) Connection() string {
	switch s {
	case Online:
		return "online"
	case InvalidCredentials:
		return "invalidCredentials"
	case Stale, Disconnected, Unreachable:
		return "deviceOffline"
	case Connecting, "":
		return "unknown"
	default:
		return "error"
	}
}

// Status is a State with what belongs to it.
type Status struct {
	State  State
	Reason string    // a sentence for a person, without secrets; empty for Connecting and Online
	Since  time.Time // when the state began
	Codec  Codec     // of the current or last stream, "" before the first
	Width  int       // of its pictures, 0 if unknown
	Height int
	// Transport is tcp, udp, multicast, with "tls+" in front for rtsps.
	Transport string
}

// Failure is why a session did not come about or ended. It is the error of Probe.
type Failure struct {
	State  State
	Reason string // a sentence for a person, without secrets
	cause  error

	fallback  bool // another transport may help
	immediate bool // the camera was fine a moment ago: try again at once
}

// Error is the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap is the error of the network or of the RTSP library; it is not for users.
func (f *Failure) Unwrap() error { return f.cause }

func failf(s State, cause error, format string, args ...any) *Failure {
	return &Failure{State: s, Reason: fmt.Sprintf(format, args...), cause: cause}
}
