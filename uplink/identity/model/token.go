package model

import (
	"time"

	"vmsbridge/uplink/identity"
)

// Token is what is stored of a bearer token. The token itself is returned once, when it is made.
type Token struct {
	ID        string        `json:"id"`
	Kind      identity.Kind `json:"kind"`
	AccountID string        `json:"accountId"`
	UserID    string        `json:"userId,omitempty"`
	Name      string        `json:"name"`
	// Cameras that may be seen; nil means all, an empty list none.
	Cameras []string  `json:"cameras,omitzero"`
	Scopes  []string  `json:"scopes,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Revoked time.Time `json:"revoked,omitzero"` // zero: not revoked
	Hash    []byte    `json:"hash,omitempty"`

	// Purpose is "" for a token that opens /api/v3.0. Other purposes, such as refresh tokens and
	// API keys, open nothing there.
	Purpose string `json:"purpose,omitempty"`
	// Family joins the tokens of one OAuth grant, so that reuse of an old refresh token ends them
	// all. ClientID is its client.
	Family   string    `json:"family,omitempty"`
	ClientID string    `json:"clientId,omitempty"`
	Used     time.Time `json:"used,omitzero"` // when a refresh token was exchanged
	// Until is when the family of a refresh token ends, however often it is exchanged.
	Until time.Time `json:"until,omitzero"`
	// Session is the hash of the session that a token was made from and ends with, nil if there is
	// none.
	Session []byte `json:"session,omitempty"`
	// Parent is the id of the token that this one was made from, for another account, and ends
	// with.
	Parent string `json:"parent,omitempty"`
	// Redirects are the addresses that a client may have codes sent to; Public says that it cannot
	// keep a secret.
	Redirects []string `json:"redirects,omitempty"`
	Public    bool     `json:"public,omitempty"`
	// Maker is the account of who registered a client in another one, "" for the client's own.
	Maker string `json:"maker,omitempty"`
}

// State is "active", "expired" or "revoked" at the given time.
func (t Token) State(now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired"
	}
	return "active"
}
