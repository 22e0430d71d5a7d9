package vms

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// written is a time as String writes it, as it is or escaped for a query.
var written = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}(?::|%3A)\d{2}(?::|%3A)\d{2}\.\d{3}(?:\+|%2B)00(?::|%3A)00`)

// Retimed is the event with at applied to every time in it: its start, its end, and whatever in its
// data is written as String writes a time, also within an address. An id that was made of its start
// is so again; e itself is not changed. It is for events whose data the bridge made itself: in
// another's, such a string may be anything.
func (e Event) Retimed(at func(time.Time) time.Time) Event {
	fits, suffix := e.FitsID(e.ID), strings.TrimPrefix(e.ID, e.NaturalID())
	e.StartTimestamp = At(at(e.StartTimestamp.Time))
	if e.EndTimestamp != nil {
		e.EndTimestamp = Ptr(at(e.EndTimestamp.Time))
	}
	data := make([]Data, len(e.Data))
	for i, d := range e.Data {
		d.raw = written.ReplaceAllFunc(d.raw, func(b []byte) []byte {
			text, escaped := string(b), bytes.IndexByte(b, '%') >= 0
			if escaped {
				text = strings.NewReplacer("%3A", ":", "%2B", "+").Replace(text)
			}
			t, err := ParseTime(text)
			if err != nil {
				return b
			}
			if text = At(at(t.Time)).String(); escaped {
				text = url.QueryEscape(text)
			}
			return []byte(text)
		})
		data[i] = d
	}
	e.Data = data
	if fits {
		e.ID = e.NaturalID() + suffix
	}
	return e
}

// WithField is the item with one more field, or another value of one that it has. An item or a
// value that is no JSON comes back as it was.
func (d Data) WithField(name string, value any) Data {
	var fields map[string]json.RawMessage
	raw, err := json.Marshal(value)
	if err != nil || json.Unmarshal(d.raw, &fields) != nil {
		return d
	}
	fields[name] = raw
	if raw, err = json.Marshal(fields); err == nil {
		d.raw = raw
	}
	return d
}
