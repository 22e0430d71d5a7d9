package notify

import (
	"errors"
	"time"
)

// Channel is a way to reach a person.
type Channel string

// The channels, with the names that the interface gives them as two-factor types.
const (
	Mail Channel = "email"
	Text Channel = "sms"
)

// Kind says what a message is about; it chooses the words.
type Kind string

// The kinds.
const (
	Registration  Kind = "registration"   // a link that validates an account
	UserCreated   Kind = "user_created"   // a link to set the first password
	PasswordReset Kind = "password_reset" // a link to set another password
	Code          Kind = "code"           // a two-factor code
	Locked        Kind = "locked"         // the user was locked out
	CameraStatus  Kind = "camera_status"  // a camera went into another status
	BridgeStatus  Kind = "bridge_status"  // a bridge is out of reach, and its cameras with it, or back
)

var (
	// ErrNoChannel says that messages cannot be sent by this channel: it is not configured, or
	// there is no address.
	ErrNoChannel = errors.New("there is no way to send that")
	// ErrFull says that too many messages wait; the person may ask again later.
	ErrFull = errors.New("too many messages wait")
)

// Message is one message to one person. Link, Token and Code open things: none of them may reach a
// log.
type Message struct {
	Kind     Kind
	Channel  Channel
	To       string // e-mail address or telephone number
	Language string // of the user, such as en-us or ja
	Name     string // of the person
	Account  string // name of the account
	// AccountID and Token are what the link carries; whoever sends the message makes the link, as
	// it knows the pages.
	AccountID string
	Token     string
	Code      string // of kind Code

	// Of kind CameraStatus: the camera's name, one of the vms.Status constants, since when in the
	// user's time, and a JPEG that is attached, nil for none.
	Camera, Status, When string
	Picture              []byte
	// Of kind BridgeStatus: the names of the bridge and of its cameras, Status and When as above.
	Bridge  string
	Cameras []string

	// UserID and Seq say under which the sender has noted the message, so that it is not lost when
	// the program ends; Seq is 0 for one that was not noted. Until is when it is no longer worth
	// sending, zero for the Mailer's own bound.
	UserID string
	Seq    uint64
	Until  time.Time
}
