package model

import "time"

// QueuedMessage says that a user is still to get a message of a kind, one of post's. It holds
// nothing that opens anything: when a program begins anew, it makes another link in place of the
// one that was lost with its memory.
type QueuedMessage struct {
	Seq     uint64    `json:"seq"` // by the store, tells a message from the one before it of the same kind
	UserID  string    `json:"userId"`
	Kind    string    `json:"kind"`
	Expires time.Time `json:"expires"` // not to be sent after
}
