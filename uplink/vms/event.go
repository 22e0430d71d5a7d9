package vms

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// Creators that this project uses.
const (
	CreatorMotion = "vms.bridgeMotion"
	CreatorHealth = "vms.systemHealth"
)

// ActorCamera and ActorBridge are the actor types that this project reports for.
const (
	ActorCamera = "camera"
	ActorBridge = "bridge"
)

// Event types that the bridge makes. The whole catalogue is in catalogue.go.
const (
	TypeMotion         = "vms.motionDetectionEvent.v1"
	TypeMotionInRegion = "vms.motionInRegionDetectionEvent.v1"
	TypeTamper         = "vms.tamperDetectionEvent.v1"
	TypeLineCross      = "vms.objectLineCrossEvent.v1"
	TypeIntrusion      = "vms.objectIntrusionEvent.v1"
	TypeLoiter         = "vms.loiterDetectionEvent.v1"
	TypeDeviceStatus   = "vms.deviceCloudStatusUpdateEvent.v1"
)

// Event is the envelope in which the interface carries an event. A nil EndTimestamp means that the
// span was still going on.
type Event struct {
	Type           string   `json:"type"`
	ID             string   `json:"id,omitempty"`
	StartTimestamp Time     `json:"startTimestamp"`
	EndTimestamp   *Time    `json:"endTimestamp"`
	Span           bool     `json:"span"`
	AccountID      string   `json:"accountId"`
	ActorID        string   `json:"actorId"`
	ActorAccountID string   `json:"actorAccountId"`
	ActorType      string   `json:"actorType"`
	CreatorID      string   `json:"creatorId"`
	DataSchemas    []string `json:"dataSchemas"`
	Data           []Data   `json:"data"`

	// Owner is who reported the event, and alone may change it. Stores keep it beside the event; it
	// is never on the wire. "" is nobody in particular: an event of before owners were kept, or one
	// that its program stores by its own right.
	Owner string `json:"-"`
}

// OwnerSelf owns what a program stores of its own: the bridge's detector its motions, the service
// its changes of accounts.
const OwnerSelf = "self"

// ErrOwned says that a stored event has another owner, and so was left as it is.
var ErrOwned = errors.New("the event is another reporter's")

// NaturalID is the id that the service builds: actor id, start and type, joined by hyphens. Its
// reporter's next report of that natural id replaces it, unless it is of something else: see
// uplink/README.md.
func (e Event) NaturalID() string {
	return e.ActorID + "-" + e.StartTimestamp.String() + "-" + e.Type
}

// maxSuffixBytes bounds what stands behind the natural id.
const maxSuffixBytes = 32

// suffix is the form of what stands behind the natural id where several events have one.
var suffix = regexp.MustCompile(`^-[0-9a-z]+$`)

// FitsID says whether an id is one of this event: the natural one, or that with a suffix, where
// several events of an actor and a type began in one millisecond.
func (e Event) FitsID(id string) bool {
	rest, ok := strings.CutPrefix(id, e.NaturalID())
	return ok && (rest == "" || len(rest) <= maxSuffixBytes && suffix.MatchString(rest))
}

// SuffixedID is the natural id with a suffix made of what tells the event from others of that id.
// The same gives the same.
func (e Event) SuffixedID(distinct ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(distinct, "\x00")))
	return e.NaturalID() + "-" + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:10]))
}

// Ongoing says whether the span had not ended when the event was written.
func (e Event) Ongoing() bool { return e.EndTimestamp == nil }

// SetData attaches items and lists their schemas, each once, in the order of the items.
func (e *Event) SetData(items ...Data) {
	e.Data = append([]Data{}, items...)
	e.DataSchemas = []string{}
	seen := map[string]bool{}
	for _, d := range items {
		if !seen[d.Type] {
			seen[d.Type] = true
			e.DataSchemas = append(e.DataSchemas, d.Type)
		}
	}
}

// Data is one item of an event's data: an object with type, creatorId and the fields of its schema.
// The JSON is kept as it arrived, so that fields unknown to us survive the journal and the way to
// the service.
type Data struct {
	Type      string
	CreatorID string
	raw       json.RawMessage
}

// MakeData makes an item of v, which must marshal to an object with "type" and "creatorId".
func MakeData(v any) (Data, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return Data{}, err
	}
	var d Data
	return d, d.UnmarshalJSON(raw)
}

// Into decodes the item into v, a struct of the schema's fields.
func (d Data) Into(v any) error { return json.Unmarshal(d.raw, v) }

// MarshalJSON writes the item as it was made or as it arrived.
func (d Data) MarshalJSON() ([]byte, error) {
	if d.raw == nil {
		return nil, errors.New("an empty data item")
	}
	return d.raw, nil
}

// UnmarshalJSON keeps a copy of b.
func (d *Data) UnmarshalJSON(b []byte) error {
	var head struct {
		Type      string `json:"type"`
		CreatorID string `json:"creatorId"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	if head.Type == "" {
		return errors.New("a data item must have a type")
	}
	d.Type, d.CreatorID, d.raw = head.Type, head.CreatorID, append(json.RawMessage(nil), b...)
	return nil
}
