package vms

// Query is a request to list events, parsed. Zero fields do not filter. Include
// and PageSize only say how the answer looks; the rest says which events.
type Query struct {
	Actors   []Actor  `json:"actors,omitempty"`
	Types    []string `json:"types,omitempty"`
	StartGTE *Time    `json:"startGte,omitempty"`
	StartLTE *Time    `json:"startLte,omitempty"`
	// EndGTE and EndLTE match no ongoing event, unless Open is set.
	EndGTE *Time `json:"endGte,omitempty"`
	EndLTE *Time `json:"endLte,omitempty"`
	// Open has events that go on match whatever the bounds of the end, if they began by EndLTE.
	Open bool `json:"open,omitempty"`
	// Ascending sorts by startTimestamp, oldest first; the default is newest first. Ties are
	// ordered by id.
	Ascending bool     `json:"asc,omitempty"`
	Include   []string `json:"include,omitempty"`
	PageSize  int      `json:"pageSize,omitempty"`
	// Stop, if it is set, is asked now and then where very many events have to be looked at: its
	// error ends the query, as when nobody waits for the answer any more.
	Stop func() error `json:"-"`
	// Counted is Page.Total of an earlier page, nil if there was none: it is answered again, and
	// nothing is counted.
	Counted *int `json:"-"`
}

// Actor is a type and an id, on the wire "camera:100d4c41".
type Actor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	// Account is whose it is, in a query to a store of several accounts; ids are an account's own.
	// It is never on the wire.
	Account string `json:"-"`
}

// Cursor is a place in the order of a query, between two events: the page wanted holds the events
// that follow the named one, or with Back those right before it (still in the query's order).
type Cursor struct {
	Start Time   `json:"start"`
	ID    string `json:"id"`
	Back  bool   `json:"back,omitempty"`
}

// Page is what a store answers to a query. Next and Prev are nil where there is no such page. Total
// counts all events that match, not only this page's.
type Page struct {
	Events     []Event
	Next, Prev *Cursor
	Total      int
}
