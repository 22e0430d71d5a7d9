package model

import "time"

// Letter says that a user is still to get a letter of a kind, one of post's. It holds nothing that opens anything: when a
// program begins anew, it makes another link in place of the one that was lost with its memory.
type QueuedMessage struct {
	Seq     uint64    `json:"seq"` // by the store, tells a letter from the one before it of the same kind
	UserID  string    `json:"userId"`
	Kind    string    `json:"kind"`
	Expires time.Time `json:"expires"` // not to be sent after
}
