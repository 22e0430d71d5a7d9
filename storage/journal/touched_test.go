package journal_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// TestListReadsWhatItAnswers counts the index entries that a list reads: about as many as events
// match, wherever those are and whatever else the journal holds.
func TestListReadsWhatItAnswers(t *testing.T) {
	const events, cameras = 10_000, 50
	registry := prometheus.NewRegistry()
	j, err := journal.Open(sample.Path(t), journal.Options{Registerer: registry})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	list := make([]vms.Event, events)
	for i := range list {
		start := time.Duration(i) * time.Second
		ev := sample.Event(fmt.Sprint("cam", i%cameras), start, start+10*time.Second)
		switch {
		case i%100 == 7:
			ev.Type = vms.TypeTamper
		case i%1000 == 0: // offline for a day, so that some event's end is far from its start everywhere
			ev.Type, ev.EndTimestamp = vms.TypeDeviceStatus, vms.Ptr(ev.StartTimestamp.Add(24*time.Hour))
		case i%1000 == 1:
			ev.EndTimestamp = nil
		}
		ev.ID = ev.NaturalID()
		list[i] = ev
	}
	for part := range slices.Chunk(list, 5000) {
		require.NoError(t, j.PutAll(part, false))
	}
	at := func(i int) *vms.Time { return vms.Ptr(sample.Epoch.Add(time.Duration(i) * time.Second)) }
	cam := func(i int) vms.Actor { return vms.Actor{Type: vms.ActorCamera, ID: fmt.Sprint("cam", i)} }
	for _, c := range []struct {
		name string
		q    vms.Query
	}{
		{"by time", vms.Query{StartGTE: at(4000), StartLTE: at(4099)}},
		{"by time, the newest", vms.Query{StartGTE: at(9900)}},
		{"by time, the oldest", vms.Query{StartLTE: at(99), Ascending: true}},
		{"by actor", vms.Query{Actors: []vms.Actor{cam(3)}}},
		{"by actor and time", vms.Query{Actors: []vms.Actor{cam(3)}, StartGTE: at(4000), EndLTE: at(8000)}},
		{"by ten actors and time",
			vms.Query{Actors: []vms.Actor{cam(1), cam(2), cam(3), cam(4), cam(5), cam(6), cam(7), cam(8), cam(9),
				cam(10)}, StartGTE: at(4000), EndLTE: at(4500)}},
		{"by type", vms.Query{Types: []string{vms.TypeTamper}}},
		{"by type and time", vms.Query{Types: []string{vms.TypeMotion}, StartGTE: at(1000), StartLTE: at(1200)}},
		{"by actor and rare type", vms.Query{Actors: []vms.Actor{cam(7)}, Types: []string{vms.TypeTamper}}},
		{"by the end, from on", vms.Query{EndGTE: at(events - 100)}},
		{"by the end, up to", vms.Query{EndLTE: at(200)}},
		{"by actor and the end", vms.Query{Actors: []vms.Actor{cam(3)}, EndGTE: at(events - 4000)}},
		{"by type and the end", vms.Query{Types: []string{vms.TypeMotion}, EndGTE: at(events - 100)}},
		{"nothing", vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "none"}}}},
		{"nothing of that time", vms.Query{StartGTE: at(events + 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.PageSize = 20
			before := listed(t, registry)
			page, err := j.List(c.q, nil)
			require.NoError(t, err)
			read := listed(t, registry) - before
			t.Logf("%d of %d events match, %d index entries read", page.Total, events, read)
			// Besides each match once: a page, the next one's first, and a few of each group.
			require.LessOrEqual(t, read, page.Total*11/10+90)
			require.LessOrEqual(t, page.Total, events/10)

			// A page in the middle costs no more than the first.
			if page.Next != nil {
				before = listed(t, registry)
				_, err = j.List(c.q, &vms.Cursor{Start: vms.At(sample.Epoch.Add(events / 2 * time.Second)), ID: "x"})
				require.NoError(t, err)
				require.LessOrEqual(t, listed(t, registry)-before, page.Total*11/10+130)
			}
		})
	}
}

// listed is how many index entries were read.
func listed(t *testing.T, registry *prometheus.Registry) int {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "vmsbridge_journal_listed_entries_total" {
			return int(f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	t.Fatal("nothing counts the index entries")
	return 0
}
