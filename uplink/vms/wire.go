package vms

// EventPage is the answer to a list request. All four keys are always there; the tokens are ""
// where there is no such page.
type EventPage = PageOf[Event]

// PageOf is the envelope of every paginated answer. Use MakePage so that Results is never null on
// the wire.
type PageOf[T any] struct {
	Results       []T    `json:"results"`
	NextPageToken string `json:"nextPageToken"`
	PrevPageToken string `json:"prevPageToken"`
	TotalSize     int    `json:"totalSize"`
}

// MakePage makes a page whose Results are an array, also when there are none.
func MakePage[T any](results []T, next, prev string, total int) PageOf[T] {
	if results == nil {
		results = []T{}
	}
	return PageOf[T]{results, next, prev, total}
}

// EventType is one record of the catalogue, as eventTypes answers it.
type EventType struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Schemas may be attached to events of this type. Not part of the answer.
	Schemas []string `json:"-"`
}

// FieldValues is the answer of events:listFieldValues.
type FieldValues struct {
	Type []string `json:"type"`
}

// ConnectionStatus holds one of the Status constants.
type ConnectionStatus struct {
	ConnectionStatus string `json:"connectionStatus"`
}

// ClientSettings tells a client the base address of its account.
type ClientSettings struct {
	HTTPSBaseURL BaseURL `json:"httpsBaseUrl"`
}

// BaseURL is a host and a port; clients put https:// before them.
type BaseURL struct {
	Hostname string `json:"hostname"`
	Port     int    `json:"port"`
}

// Feed is one record of the list of feeds: id, type, deviceId, mediaType, and each address that was
// asked for, null where there is none.
type Feed map[string]any
