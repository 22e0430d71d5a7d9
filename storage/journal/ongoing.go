package journal

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Ongoing is an event without an end, and when it was last known to go on.
type Ongoing struct {
	Event vms.Event
	// Last is the latest TouchAll, cut to the millisecond, or the event's start.
	Last time.Time
}

// TouchAll notes, durably, that ongoing events were still going on at these times, with one small
// write for all of them. It is not reported. An earlier time than the one noted, an event that has
// ended, and an unknown id change nothing.
func (j *Journal) TouchAll(last map[string]time.Time) error {
	times := make(map[string]int64, len(last))
	for id, t := range last {
		times[id] = t.UnixMilli()
	}
	if err := j.touch(times); err != nil {
		return fmt.Errorf("touch %d events: %w", len(last), err)
	}
	return nil
}

// touch is TouchAll in milliseconds since 1970.
func (j *Journal) touch(last map[string]int64) error {
	news := map[string]int64{}
	err := j.file.View(func(tx *bolt.Tx) error {
		clear(news)
		for id, at := range last {
			noted := guard.Bucket(tx, schema.Ongoing).Get([]byte(id))
			if noted != nil && at > j.lastOf(id, noted) {
				news[id] = at
			}
		}
		return nil
	})
	if err != nil || len(news) == 0 {
		return err
	}
	j.activity.take(news)
	return j.file.NoteActivity(news)
}

// lastOf is when an event was last known to go on, in milliseconds since 1970; noted is what the
// file says of it.
func (j *Journal) lastOf(id string, noted []byte) int64 {
	at := schema.KeyMS(noted)
	if later, ok := j.activity.of(id); ok {
		at = max(at, later)
	}
	return at
}

// Unfinished is all events without an end, by id. At start-up these are the spans that a crash cut
// off (and those that other programs reported as ongoing): the owner closes its own at Last.
func (j *Journal) Unfinished() ([]Ongoing, error) {
	var list []Ongoing
	err := j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events := guard.Bucket(tx, schema.Events)
		return guard.Bucket(tx, schema.Ongoing).ForEach(func(k, v []byte) error {
			ev, _, err := schema.ReadEvent(k, events.Get(k))
			if err != nil || len(v) != 8 {
				j.metrics.damaged.Inc()
				return nil
			}
			list = append(list, Ongoing{Event: ev, Last: schema.MSTime(j.lastOf(string(k), v))})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the ongoing events: %w", err)
	}
	return list, nil
}

// OngoingOf is the events of these actors that have not ended, in no particular order. It reads no
// others.
func (j *Journal) OngoingOf(actors ...vms.Actor) ([]vms.Event, error) {
	var list []vms.Event
	err := j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events := guard.Bucket(tx, schema.Events)
		for _, a := range actors {
			eachOngoing(tx, a, func(id []byte) {
				if ev, _, err := schema.ReadEvent(id, events.Get(id)); err == nil && ev.Ongoing() {
					list = append(list, ev)
				}
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the ongoing events of %d actors: %w", len(actors), err)
	}
	return list, nil
}

// eachOngoing calls visit with the ids of an actor's events that have not ended. It looks once at
// each of the actor's types and classes of length, however many events there are.
func eachOngoing(tx *bolt.Tx, actor vms.Actor, visit func(id []byte)) {
	root := schema.ActorPrefix(actor)
	c := guard.Bucket(tx, schema.ByActor).Cursor()
	for k, _ := c.Seek(root); k != nil && bytes.HasPrefix(k, root); {
		n := schema.GroupLen(k, schema.GroupNames(schema.ByActor))
		switch {
		case n == 0: // damaged
			k, _ = c.Next()
		case k[n-1] == schema.ClassOngoing:
			visit(k[n+8:])
			k, _ = c.Next()
		default:
			next := slices.Clone(k[:n])
			next[n-1]++ // the class, which is not the highest
			k, _ = c.Seek(next)
		}
	}
}
