package journal

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Size is how many bytes the event of an id takes, without what the indexes have of it; 0 if there
// is none.
func (j *Journal) Size(id string) (n int, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		n = len(guard.Bucket(tx, schema.Events).Get([]byte(id)))
		return nil
	})
	return n, err
}

// weighStretch is how many events Weigh reads at a time, so that it holds up no pages for long.
const weighStretch = 4000

// Weigh calls visit with the actor of each event and how many bytes it takes, as Size has it. It
// reads every event's head; events that are put or removed meanwhile may be missing. stop is asked
// now and then; an error of its ends it.
func (j *Journal) Weigh(stop func() error, visit func(actor vms.Actor, bytes int)) error {
	for from := []byte(nil); ; {
		if err := stop(); err != nil {
			return err
		}
		looked := 0
		err := j.file.View(func(tx *bolt.Tx) error {
			c := guard.Bucket(tx, schema.Events).Cursor()
			k, v := c.Seek(from)
			if from != nil && bytes.Equal(k, from) {
				k, v = c.Next()
			}
			for ; k != nil && looked < weighStretch; k, v = c.Next() {
				if h, err := schema.ReadHead(v); err == nil {
					visit(h.Actor, len(v))
				}
				from = append(from[:0], k...)
				looked++
			}
			return nil
		})
		if err != nil || looked < weighStretch {
			return err
		}
	}
}
