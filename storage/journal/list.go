package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/query"
	"vmsbridge/uplink/vms"
)

// List answers a query: the page at c, or the first one for a nil c. The order is by start, then by
// id; newest first is its exact reverse. PageSize 0 means 100, and 10,000 is the most. A cursor
// stays good when events are added or removed, also the one that it names.
//
// The work is: the index entries of the events that match, read once for Total, and the page's
// events. What does not match is read only near a bound of the end: see query. Writers are not held
// up. With q.Stop it ends soon after nobody waits for it.
func (j *Journal) List(q vms.Query, c *vms.Cursor) (vms.Page, error) {
	var page vms.Page
	err := j.file.View(func(tx *bolt.Tx) error {
		var cost query.Cost
		var err error
		page, cost, err = query.List(tx, q, c)
		j.metrics.listed.Add(float64(cost.Read))
		j.metrics.damaged.Add(float64(cost.Damaged))
		return err
	})
	if err != nil {
		return vms.Page{}, fmt.Errorf("list events: %w", err)
	}
	return page, nil
}
