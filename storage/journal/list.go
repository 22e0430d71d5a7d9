package journal

import (
	"bytes"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

const defaultPageSize = 100

// MaxPageSize is the most events that a page has.
const MaxPageSize = 10000

// List answers a query: the page at c, or the first one for a nil c. The order is by start, then by
// id; newest first is its exact reverse. PageSize 0 means 100, and 10,000 is the most. A cursor
// stays good when events are added or removed, also the one that it names.
//
// The work is: the index entries of the events that match, read once for Total, and the page's
// events. What does not match is read only near a bound of the end (schema/format.md). Writers are
// not held up. With q.Stop it ends soon after nobody waits for it.
func (j *Journal) List(q vms.Query, c *vms.Cursor) (vms.Page, error) {
	var page vms.Page
	if q.Counted == nil {
		j.file.KeepSteady()
	}
	err := j.file.View(func(tx *bolt.Tx) (err error) {
		page, err = j.list(tx, q, c)
		return err
	})
	if err != nil {
		return vms.Page{}, fmt.Errorf("list events: %w", err)
	}
	return page, nil
}

// list is List in a transaction. The error is that of q.Stop.
func (j *Journal) list(tx *bolt.Tx, q vms.Query, c *vms.Cursor) (page vms.Page, err error) {
	n := q.PageSize
	if n <= 0 {
		n = defaultPageSize
	}
	n = min(n, MaxPageSize)
	p := makePlan(q)
	defer func() {
		j.metrics.listed.Add(float64(p.read))
		err = p.err
	}()
	p.survey(tx)
	page = vms.Page{Events: []vms.Event{}}
	if q.Counted != nil {
		page.Total = *q.Counted
	} else {
		p.known, p.fresh = j.file.Steady(tx)
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
		return page, nil
	}
	first, last := places[0], places[len(places)-1]
	if back && more || !back && c != nil && len(p.fetch(tx, !ascending, first, 1)) > 0 {
		page.Prev = &vms.Cursor{Start: placeTime(first), ID: string(first[8:]), Back: true}
	}
	if !back && more || back && len(p.fetch(tx, ascending, last, 1)) > 0 {
		page.Next = &vms.Cursor{Start: placeTime(last), ID: string(last[8:])}
	}
	page.Events = readAt(tx, places)
	j.metrics.damaged.Add(float64(len(places) - len(page.Events)))
	return page, nil
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
