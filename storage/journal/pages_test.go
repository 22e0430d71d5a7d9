package journal_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// TestTotalIsRightAfterChanges asks after each of many changes, over many checkpoints, in a file in
// which whole branches of an index are counted: what was counted below a page before holds only as
// long as the page is the same.
func TestTotalIsRightAfterChanges(t *testing.T) {
	const events = 12_000
	random := rand.New(rand.NewPCG(7, 9))
	j, err := journal.Open(sample.Path(t), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	all := map[time.Duration]bool{} // starts, and whether the event is a short one
	put := func(short bool, starts ...time.Duration) {
		var list []vms.Event
		for _, start := range starts {
			end := start + time.Second
			if all[start] = short; !short {
				end = start + time.Hour // in another group
			}
			list = append(list, sample.Event("cam", start, end))
		}
		require.NoError(t, j.PutAll(list, false))
	}
	at := func() time.Duration { return time.Duration(random.IntN(10*events)) * time.Second }
	for range 4 {
		starts := map[time.Duration]bool{}
		for len(starts) < events/4 {
			starts[at()] = true
		}
		put(true, slices.Collect(maps.Keys(starts))...)
	}
	for n := range 400 {
		near := at() // what changes lies together, as it does where events come in order
		put(n%3 != 0, near, near+time.Second, near+2*time.Second, at())
		from, to := at(), at()
		for _, q := range []vms.Query{{}, {Types: []string{vms.TypeMotion}},
			{StartGTE: vms.Ptr(sample.Epoch.Add(from)), StartLTE: vms.Ptr(sample.Epoch.Add(to))},
			{EndLTE: vms.Ptr(sample.Epoch.Add(to))}} {
			want := 0
			for start, short := range all {
				end := start + time.Second
				if !short {
					end = start + time.Hour
				}
				if (q.StartGTE == nil || start >= from && start <= to) && (q.EndLTE == nil || end <= to) {
					want++
				}
			}
			q.PageSize = 1
			page, err := j.List(q, nil)
			require.NoError(t, err)
			require.Equal(t, want, page.Total, "change %d: %+v", n, q)
		}
	}
}

// TestTotalIsRight holds how many events a list says that there are against a plain count, for
// questions of all kinds, in a file of so many pages that most of them are counted without being
// looked into; and that they are.
func TestTotalIsRight(t *testing.T) {
	const events, cameras = 30_000, 7
	random := rand.New(rand.NewPCG(3, 5))
	registry := prometheus.NewRegistry()
	j, err := journal.Open(sample.Path(t), journal.Options{Registerer: registry})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	lengths := []time.Duration{0, time.Second, 65535 * time.Millisecond, 65536 * time.Millisecond, 5 * time.Minute,
		time.Hour, 8 * time.Hour, 2 * 24 * time.Hour, 20 * 24 * time.Hour, 60 * 24 * time.Hour}
	kinds := []string{vms.TypeMotion, vms.TypeMotionInRegion, vms.TypeTamper}
	list := make([]vms.Event, events)
	for i := range list {
		start := time.Duration(i)*10*time.Second + time.Duration(random.IntN(1000))*time.Millisecond
		ev := sample.Event(fmt.Sprint("cam", i%cameras), start, start+lengths[random.IntN(len(lengths))])
		if ev.Type = kinds[random.IntN(len(kinds))]; random.IntN(50) == 0 {
			ev.EndTimestamp = nil
		}
		ev.ID = ev.NaturalID()
		list[i] = ev
	}
	for part := range slices.Chunk(list, 5000) {
		require.NoError(t, j.PutAll(part, false))
	}
	moment := func() *vms.Time {
		if random.IntN(2) == 0 {
			return nil
		}
		// Often an event's own start or end, where a millisecond decides.
		ev := list[random.IntN(events)]
		at := ev.StartTimestamp.Time
		if ev.EndTimestamp != nil && random.IntN(2) == 0 {
			at = ev.EndTimestamp.Time
		}
		return vms.Ptr(at.Add(time.Duration(random.IntN(3)-1) * time.Millisecond))
	}
	matches := func(q vms.Query, ev vms.Event) bool {
		ends := q.EndGTE == nil && q.EndLTE == nil || ev.EndTimestamp == nil && q.Open &&
			(q.EndLTE == nil || !ev.StartTimestamp.After(q.EndLTE.Time)) ||
			ev.EndTimestamp != nil && (q.EndGTE == nil || !ev.EndTimestamp.Before(q.EndGTE.Time)) &&
				(q.EndLTE == nil || !ev.EndTimestamp.After(q.EndLTE.Time))
		return ends && (q.StartGTE == nil || !ev.StartTimestamp.Before(q.StartGTE.Time)) &&
			(q.StartLTE == nil || !ev.StartTimestamp.After(q.StartLTE.Time)) &&
			(len(q.Types) == 0 || slices.Contains(q.Types, ev.Type)) &&
			(len(q.Actors) == 0 || slices.ContainsFunc(q.Actors, func(a vms.Actor) bool { return a.ID == ev.ActorID }))
	}
	for n := range 300 {
		q := vms.Query{StartGTE: moment(), StartLTE: moment(), EndGTE: moment(), EndLTE: moment(),
			Open: random.IntN(2) == 0, PageSize: 1}
		if random.IntN(2) == 0 {
			q.Types = []string{kinds[random.IntN(len(kinds))]}
		}
		for range random.IntN(3) {
			q.Actors = append(q.Actors, vms.Actor{Type: vms.ActorCamera, ID: fmt.Sprint("cam", random.IntN(cameras+1))})
		}
		want := 0
		for _, ev := range list {
			if matches(q, ev) {
				want++
			}
		}
		page, err := j.List(q, nil)
		require.NoError(t, err)
		require.Equal(t, want, page.Total, "question %d: %+v", n, q)
	}
	before := listed(t, registry)
	page, err := j.List(vms.Query{PageSize: 1}, nil)
	require.NoError(t, err)
	require.Equal(t, events, page.Total)
	require.Less(t, listed(t, registry)-before, 100, "they are not read one by one")
}

// Pages stay as full as they were made, however many cameras take turns: a list counts by pages.
func TestPagesAreFull(t *testing.T) {
	path := sample.Path(t)
	j, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	for from := range 60 {
		var list []vms.Event
		for n := from * 100; n < (from+1)*100; n++ {
			list = append(list, sample.Event(fmt.Sprint("cam", n%20), time.Duration(n)*4*time.Second,
				time.Duration(n*4+5)*time.Second))
		}
		require.NoError(t, j.PutAll(list, false))
	}
	require.NoError(t, j.Close())
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.View(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{schema.Events, schema.ByTime, schema.ByActor, schema.ByType} {
			s := tx.Bucket(name).Stats()
			require.Greater(t, float64(s.LeafInuse)/float64(s.LeafAlloc), 0.75, "%s", name)
		}
		return nil
	}))
}
