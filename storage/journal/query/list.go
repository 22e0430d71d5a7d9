package query

import (
	"bytes"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

const defaultPageSize = 100

// MaxPageSize is the most events that a page has.
const MaxPageSize = 10000

// Cost is what it took to answer a query.
type Cost struct {
	Read    int // index entries
	Damaged int // events that were left out, because they cannot be read or are listed where they do not belong
}

// List is the page at c, or the first one for a nil c, as journal.Journal's List promises it. The
// error is that of q.Stop.
func List(tx *bolt.Tx, q vms.Query, c *vms.Cursor) (page vms.Page, cost Cost, err error) {
	n := q.PageSize
	if n <= 0 {
		n = defaultPageSize
	}
	n = min(n, MaxPageSize)
	p := makePlan(q)
	defer func() { cost.Read, err = p.read, p.err }()
	p.survey(tx)
	page = vms.Page{Events: []vms.Event{}}
	if q.Counted != nil {
		page.Total = *q.Counted
	} else {
		page.Total = p.count(tx)
	}
	var at []byte
	if c != nil {
		at = schema.Place(c.Start, c.ID)
	}
	ascending := q.Ascending
	back := c != nil && c.Back
	places := p.fetch(tx, ascending != back, at, n+1)
	more := len(places) > n
	places = places[:min(n, len(places))]
	if back {
		slices.Reverse(places)
	}
	if len(places) == 0 {
		return page, cost, nil
	}
	first, last := places[0], places[len(places)-1]
	if back && more || !back && c != nil && len(p.fetch(tx, !ascending, first, 1)) > 0 {
		page.Prev = &vms.Cursor{Start: placeTime(first), ID: string(first[8:]), Back: true}
	}
	if !back && more || back && len(p.fetch(tx, ascending, last, 1)) > 0 {
		page.Next = &vms.Cursor{Start: placeTime(last), ID: string(last[8:])}
	}
	page.Events = readAt(tx, places)
	cost.Damaged = len(places) - len(page.Events)
	return page, cost, nil
}

func placeTime(p []byte) vms.Time { return vms.At(schema.MSTime(schema.KeyMS(p))) }

// readAt reads the events at places. A damaged one, and one that an index lists at a place that is
// not its own, is left out.
func readAt(tx *bolt.Tx, places [][]byte) []vms.Event {
	b := guard.Bucket(tx, schema.Events)
	list := make([]vms.Event, 0, len(places))
	for _, p := range places {
		ev, _, err := schema.ReadEvent(p[8:], b.Get(p[8:]))
		if err != nil || !bytes.Equal(schema.Place(ev.StartTimestamp, ev.ID), p) {
			continue
		}
		list = append(list, ev)
	}
	return list
}
