package model

import (
	"encoding/hex"
	"encoding/json"
	"time"
)

// Purpose says what a ticket is good for. A ticket of one purpose is worth nothing for another.
type Purpose string

// The purposes.
const (
	PurposeLogin    Purpose = "login"    // from authenticate to authorize
	PurposeActivate Purpose = "activate" // validate_account
	PurposePassword Purpose = "password" // reset_password, also of the first password
	PurposeFactor   Purpose = "factor"   // from two-factor update to verify
	PurposeCode     Purpose = "oauth"    // an authorization code of OAuth
)

// Ticket is a single-use token that was handed out: only its hash is kept. A ticket without a
// UserID and AccountID is good for nothing; it is stored so that an unknown address takes as long
// as a known one.
type Ticket struct {
	Hash      []byte    `json:"hash"`
	Purpose   Purpose   `json:"purpose"`
	AccountID string    `json:"accountId,omitempty"`
	UserID    string    `json:"userId,omitempty"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires"`
	// Code is the two-factor code that was sent, nil if none was.
	Code *Code `json:"code,omitempty"`
	// Sent counts the codes that were sent for this ticket.
	Sent int `json:"sent,omitempty"`
	// Factor says that Authorize needs a code with this ticket.
	Factor bool `json:"factor,omitempty"`
	// Used says that an activation link was followed. It stays, so that following it again is told
	// from a wrong one.
	Used bool `json:"used,omitempty"`
	// Change is what a verified code puts into effect, in the form that its package gives it.
	Change json.RawMessage `json:"change,omitempty"`
}

// Good says whether the ticket is of a purpose, stands for someone and has not expired.
func (t Ticket) Good(p Purpose, now time.Time) bool {
	return t.Purpose == p && t.UserID != "" && now.Before(t.Expires)
}

// Code is a two-factor code that was sent.
type Code struct {
	Hash    []byte    `json:"hash"`
	Channel string    `json:"channel"` // sms or email
	Expires time.Time `json:"expires"`
}

// Session is a sign-in that lasts. Its key is the value of the cookie auth_key, of which only the
// hash is kept.
type Session struct {
	Hash          []byte    `json:"hash"`
	UserID        string    `json:"userId"`
	ActiveAccount string    `json:"activeAccount"`
	Created       time.Time `json:"created"`
	Seen          time.Time `json:"seen"`             // last request, to within session.SeenEvery
	Expires       time.Time `json:"expires,omitzero"` // zero: never
	From          string    `json:"from,omitempty"`   // address at sign-in
	Agent         string    `json:"agent,omitempty"`  // what the client said that it is, a Name
}

// ID names the session where it is shown. It opens nothing.
func (s Session) ID() string { return hex.EncodeToString(s.Hash[:min(6, len(s.Hash))]) }

// Live says whether the session is still good at a time, when its account lets sessions rest for at
// most idle; 0 is for ever.
func (s Session) Live(now time.Time, idle time.Duration) bool {
	if !s.Expires.IsZero() && !now.Before(s.Expires) {
		return false
	}
	return idle <= 0 || now.Sub(s.Seen) < idle
}

// Attempts counts wrong passwords for an address, known or not.
type Attempts struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}
