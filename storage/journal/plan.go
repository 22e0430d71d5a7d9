package journal

import (
	"bytes"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// plan is how a query is answered from the indexes: the groups to read, and the bounds within each.
type plan struct {
	bucket         []byte
	roots          [][]byte // what the keys of the groups wanted begin with
	groups         [][]byte // found by survey
	from, to       int64    // bounds of the start in milliseconds: from inclusive, to exclusive
	endMin, endMax int64
	anyEnd         bool // ends are not filtered, so ongoing events match
	live           bool // ongoing events that began by endMax match all the same

	known *file.Steady // what was counted before; nil: nothing
	fresh bool         // what is counted is made known

	read int          // index entries looked at
	stop func() error // says that nobody waits any more; nil: somebody does
	err  error        // what it said
}

// makePlan takes the narrowest index: by actor (and type) where actors are named, by type where
// only types are, else by time.
func makePlan(q vms.Query) plan {
	p := plan{stop: q.Stop, bucket: schema.ByTime, roots: [][]byte{nil}, anyEnd: q.EndGTE == nil && q.EndLTE == nil,
		from: math.MinInt64, to: math.MaxInt64, endMin: math.MinInt64, endMax: schema.EndOngoing - 1}
	// What Put refuses is not there to be found, and would not fit a prefix.
	types := slices.DeleteFunc(slices.Clone(q.Types), func(t string) bool { return len(t) > schema.MaxNameBytes })
	actors := slices.DeleteFunc(slices.Clone(q.Actors), func(a vms.Actor) bool {
		return len(a.Type) > schema.MaxNameBytes || len(a.ID) > schema.MaxNameBytes
	})
	if len(q.Actors) > 0 || len(q.Types) > 0 {
		p.bucket, p.roots = schema.ByType, nil
	}
	if len(q.Actors) > 0 {
		p.bucket = schema.ByActor
	}
	for _, a := range actors {
		if len(q.Types) == 0 {
			p.roots = append(p.roots, schema.ActorPrefix(a))
		}
		for _, t := range types {
			p.roots = append(p.roots, append(schema.ActorPrefix(a), schema.TypePrefix(t)...))
		}
	}
	if len(q.Actors) == 0 {
		for _, t := range types {
			p.roots = append(p.roots, schema.TypePrefix(t))
		}
	}
	slices.SortFunc(p.roots, bytes.Compare)
	p.roots = slices.CompactFunc(p.roots, bytes.Equal)
	if q.StartGTE != nil {
		p.from = q.StartGTE.UnixMilli()
	}
	if q.StartLTE != nil {
		p.to = q.StartLTE.UnixMilli() + 1
	}
	if q.EndGTE != nil {
		p.endMin = q.EndGTE.UnixMilli()
	}
	if q.EndLTE != nil {
		p.endMax = min(p.endMax, q.EndLTE.UnixMilli())
	}
	p.live = q.Open && !p.anyEnd
	return p
}

// survey finds the groups below the roots, with one look each: a camera that only ever had short
// motions costs one group, however many events that is.
func (p *plan) survey(tx *bolt.Tx) {
	if p.from >= p.to || !p.anyEnd && !p.live && p.endMin > p.endMax {
		return
	}
	names := schema.GroupNames(p.bucket)
	c := guard.Bucket(tx, p.bucket).Cursor()
	for _, root := range p.roots {
		k, _ := c.Seek(root)
		for k != nil && bytes.HasPrefix(k, root) {
			p.read++
			n := schema.GroupLen(k, names)
			if n == 0 || n < len(root) {
				k, _ = c.Next() // damaged
				continue
			}
			group := bytes.Clone(k[:n])
			p.groups = append(p.groups, group)
			next := bytes.Clone(group)
			next[n-1]++ // the class, which is never the highest byte
			k, _ = c.Seek(next)
		}
	}
}
