package vms

import (
	"encoding/json"
	"errors"
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
	TypeDeviceStatus   = "vms.deviceCloudStatusUpdateEvent.v1"
)

// Event is the envelope of interface/events.md §2.1. A nil EndTimestamp means that the span was still going on.
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
}

// NaturalID is the id that the service builds: actor id, start and type, joined by hyphens. Reporting an event with the
// same natural id again replaces it.
func (e Event) NaturalID() string {
	return e.ActorID + "-" + e.StartTimestamp.String() + "-" + e.Type
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

// Data is one item of an event's data: an object with type, creatorId and the fields of its schema. The JSON is kept as
// it arrived, so that fields unknown to us survive the journal and the way to the service.
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
